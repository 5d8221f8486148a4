/** Signed notes of one provider, sent as its program would, through the proxy if there is one; and a check that all of them exist. */
import { REHEARSAL } from './instalar.ts';
import type { Life } from './vida.ts';

const KEY = `--pfx data/pki/prestadores/11222333000181.pfx --senha-arquivo data/pki/senha.txt`;

/** The public address of the service: that of the proxy, once it runs. */
export const way = { address: 'http://127.0.0.1:8080', options: '' };

/** The number of the provider's next DPS; the page has issued the first. */
let next = 2;

export async function issueNotes({ machine, notes }: Life, count: number): Promise<void> {
  const [from, to] = [next, next + count - 1];
  next += count;
  const said = await machine.do(`cd ${REHEARSAL}
    for n in $(seq ${from} ${to}); do
      whole=$(printf %015d $n)
      sed "s,<nDPS>1<,<nDPS>$n<,; s,000000000000001\\",$whole\\"," examples/dps-producao.xml > data/dps.xml
      nfse assinar data/dps.xml ${KEY} --saida data/assinada.xml > /dev/null
      curl -sS --fail-with-body ${way.options} -H 'Content-Type: application/xml' --data-binary @data/assinada.xml \\
        ${way.address}/exemplo/api/v1/nfse/v101 | grep -o '"chave_acesso":"[0-9]*"'
      rm data/assinada.xml
    done`);
  const keys = [...said.matchAll(/\d{50}/g)].map(([key]) => key);
  if (keys.length !== count) throw new Error(`${keys.length} of ${count} notes were issued:\n${said}`);
  notes.push(...keys);
}

/** Every note that was answered with 201 exists once, and its number is unique. */
export async function findNotes({ machine, notes }: Life): Promise<void> {
  const said = await machine.do(
    notes
      .map(
        (key) =>
          `curl -sS -o /dev/null -w '${key} %{http_code}\\n' ${way.options} ${way.address}/exemplo/api/v1/nfse/${key}`,
      )
      .join('\n'),
  );
  const lost = said.split('\n').filter((line) => line !== '' && !line.endsWith(' 200'));
  if (lost.length > 0) throw new Error(`${lost.length} of ${notes.length} notes are lost:\n${lost.join('\n')}`);
}
