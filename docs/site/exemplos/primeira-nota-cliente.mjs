// node primeira-nota-cliente.mjs dps.json      (Node 20.3 ou mais novo, com @emissor-nfse/cliente)
import { readFileSync, writeFileSync } from 'node:fs';
import { createCliente, Recusado } from '@emissor-nfse/cliente';

const [, , arquivo = 'dps.json', base = 'http://127.0.0.1:8080/integracao'] = process.argv;
const [, url = '', municipio = ''] = /^(.*)\/([^/]+)$/.exec(base) ?? [];
const cliente = createCliente({ url, municipio });

try {
  const { chave_acesso } = await cliente.emitirNota(readFileSync(arquivo));
  console.log(`Emitida: ${chave_acesso}`);
  const { situacao, nota, protocolo } = await cliente.acompanharNota(chave_acesso);
  if (situacao !== 'autorizada') throw new Error(`O ADN recusou: ${protocolo.mensagem_retorno}`);
  writeFileSync(`${chave_acesso}.xml`, nota.xml_nota);
  console.log(`Autorizada, ISSQN ${nota.valor_issqn}: ${chave_acesso}.xml`);
} catch (erro) {
  if (!(erro instanceof Recusado)) throw erro;
  for (const { codigo, campo, xpath, mensagem } of erro.erros)
    console.error(`${codigo} ${campo ?? xpath}: ${mensagem}`);
  process.exitCode = 1;
}
