// node primeira-nota.mjs dps.json            (Node 18 ou mais novo, sem dependências)
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const [, , arquivo = 'dps.json', base = 'http://127.0.0.1:8080/integracao'] = process.argv;
const corpo = readFileSync(arquivo); // os bytes, como estão: é sobre eles que se assina
const espera = (segundos) => new Promise((pronto) => setTimeout(pronto, segundos * 1000));
const retryAfter = (resposta, padrao) => Number(resposta?.headers.get('retry-after')) || padrao;

// Uma chave por nota, gerada antes do primeiro envio e repetida em cada repetição dele.
const chaveDoEnvio = randomUUID();

async function emitir() {
  for (let tentativa = 1; tentativa <= 8; tentativa += 1) {
    const resposta = await fetch(`${base}/api/v1/nfse/v101`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': chaveDoEnvio },
      body: corpo,
      signal: AbortSignal.timeout(30_000),
    }).catch(() => undefined); // sem resposta: não se sabe se a nota foi emitida
    const emDuvida = resposta === undefined || resposta.status >= 500 || [408, 409, 429].includes(resposta.status);
    if (!emDuvida) return { status: resposta.status, dados: await resposta.json() };
    await espera(retryAfter(resposta, Math.min(2 ** tentativa, 60)));
  }
  throw new Error('O serviço não respondeu. Guarde a chave do envio e repita mais tarde, com o mesmo corpo.');
}

const { status, dados } = await emitir();
if (status !== 201) {
  for (const erro of dados.erros) console.error(`${erro.codigo} ${erro.campo ?? erro.xpath}: ${erro.mensagem}`);
  process.exit(1);
}
console.log(`Emitida: ${dados.chave_acesso}`);

for (let pausa = 1; ; pausa = Math.min(pausa * 2, 60)) {
  const resposta = await fetch(`${base}/api/v1/nfse/${dados.chave_acesso}`);
  const { nota, protocolo } = await resposta.json();
  if (protocolo?.status === 'rejeitado') throw new Error(`O ADN recusou: ${protocolo.mensagem_retorno}`);
  if (nota?.status === 'autorizada') {
    writeFileSync(`${dados.chave_acesso}.xml`, nota.xml_nota);
    console.log(`Autorizada, ISSQN ${nota.valor_issqn}: ${dados.chave_acesso}.xml`);
    break;
  }
  await espera(Math.max(retryAfter(resposta, 1), pausa));
}
