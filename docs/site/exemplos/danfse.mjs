// node danfse.mjs CHAVE                      (Node 20 ou mais novo, sem dependências)
import { writeFile } from 'node:fs/promises';
import { setTimeout as esperar } from 'node:timers/promises';

const [chave, base = 'http://127.0.0.1:8080/integracao'] = process.argv.slice(2);

for (let tentativa = 1; tentativa <= 8; tentativa++) {
  const resposta = await fetch(`${base}/api/v1/danfse/${chave}`).catch(() => undefined);
  if (resposta?.status === 200) {
    await writeFile(`${chave}.pdf`, Buffer.from(await resposta.arrayBuffer()));
    console.log(`Gravado: ${chave}.pdf`);
    process.exit(0);
  }
  // Com Retry-After vale a pena perguntar de novo: a nota ainda não foi autorizada, ou o serviço pede um tempo.
  const espera = Number(resposta?.headers.get('Retry-After') ?? 0);
  if (resposta !== undefined && resposta.status < 500 && espera === 0) {
    for (const erro of (await resposta.json()).erros) console.error(erro.codigo, erro.mensagem);
    process.exit(1);
  }
  await esperar(1_000 * (espera || Math.min(2 ** tentativa, 60)));
}
console.error('Ainda não há PDF. Tente mais tarde.');
process.exit(1);
