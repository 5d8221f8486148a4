// node percurso.mjs                          (Node 20.3 ou mais novo, com @emissor-nfse/cliente e dps.json)
import { readFileSync, writeFileSync } from 'node:fs';
import { createCliente } from '@emissor-nfse/cliente';

const [, , url = 'http://127.0.0.1:8080'] = process.argv;
const dps = readFileSync('dps.json');

// Um ambiente só seu. A chave do dono não se mostra de novo: é com ela que se muda o relógio.
const criado = await createCliente({ url, municipio: 'integracao' }).criarAmbiente({ nome: 'Meu ERP' });
const { municipio } = criado.ambiente;
console.log(`Ambiente ${municipio}, chave ${criado.chave}`);
const cliente = createCliente({ url, municipio });

// Quem pergunta mostra um token, aqui o do prestador de dps.json. O cursor diz desde quando se seguem as mudanças.
const documento = '11222333000181';
const { token } = await cliente.pedirToken({ documento, escopos: ['consultar', 'webhooks'], validade_dias: 90 });
const leitor = createCliente({ url, municipio, token });
const { cursor } = await leitor.seguirMudancas({ desde: 'agora' });

const { chave_acesso } = await cliente.emitirNota(dps);
const { nota } = await cliente.acompanharNota(chave_acesso);
console.log(`Nota ${nota.numero} ${nota.status}, ISSQN ${nota.valor_issqn}: ${chave_acesso}`);
writeFileSync('nota.pdf', await cliente.baixarDanfse(chave_acesso));

const evento = await cliente.registrarEvento(chave_acesso, {
  tipo_evento: 'cancelamento',
  codigo_motivo_cancelamento: '1',
  descricao_motivo_cancelamento: 'Valor do serviço informado com erro',
});
console.log('Cancelamento', (await cliente.acompanharEvento(evento)).status_evento);

for await (const mudanca of leitor.mudancas({ desde: cursor })) {
  console.log('Mudança:', mudanca.tipo); // no seu sistema, grave mudanca.cursor com o que tratou
  if (mudanca.tipo === 'nota.cancelada') break;
}

for await (const uma of leitor.todasAsNotas({ papel: 'prestador' }))
  console.log('Na lista:', uma.chave_acesso, uma.status);

// Janeiro do ano que vem, que o relógio do ambiente alcança num instante.
const ano = Number(criado.ambiente.relogio.slice(0, 4)) + 1;
await cliente.alterarAmbiente(criado.chave, { relogio: `${ano}-01-04T09:00:00-03:00` });
const outra = await cliente.emitirNota(dps);
console.log('Em janeiro:', (await cliente.acompanharNota(outra.chave_acesso)).nota.data_emissao);
