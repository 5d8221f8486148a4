/** The nginx of Debian with its file of `deploy`, with mutual TLS: the service sees the client's certificate, and nobody can forge one. */
import { way } from './emitir.ts';
import { isReady, PRODUCTION, REHEARSAL } from './instalar.ts';
import { until } from './maquina.ts';
import { blocksOf } from './pagina.ts';
import type { Step } from './vida.ts';

const SITE = 'nfse.exemplo.gov.br';
const TLS = '/etc/nfse/tls';
const SITUACAO = `https://${SITE}/exemplo/api/v1/prestadores/11222333000181/situacao`;
export const PROXY: Step = {
  name: 'nginx na frente, com TLS mútuo',
  run: async (life) => {
    const { machine } = life;
    await machine.do(`echo 127.0.0.1 ${SITE} painel.exemplo.gov.br >> /etc/hosts`);
    // The certificate for a rehearsal comes second in the page, because most operators have one.
    const [site, certificate] = blocksOf(PRODUCTION, 'O nginx');
    await machine.do(certificate! + site!);
    await machine.do('systemctl restart nfse');
    await until('o serviço parte', () => isReady(life));
    way.address = `https://${SITE}`;
    way.options = `--cacert ${TLS}/certificado.pem`;
    await machine.do(
      `cd ${REHEARSAL}; openssl pkcs12 -in data/pki/prestadores/11222333000181.pfx -passin file:data/pki/senha.txt -nodes -out data/cliente.pem`,
    );
    const claimed = `-H "X-Client-Cert: $(sed -n '/BEGIN CERT/,/END CERT/p;/END CERT/q' data/cliente.pem | tr '\\n' ' ' | sed 's/ /%20/g')"`;
    for (const [wanted, options] of [
      ['200', '--cert data/cliente.pem'],
      ['401', ''],
      ['401', claimed],
    ] as const) {
      const ask = `curl -sS -o data/resposta -w %{http_code} ${way.options} ${options} ${SITUACAO}`;
      const said = await machine.do(`cd ${REHEARSAL}; ${ask}; cat data/resposta`);
      if (!said.startsWith(wanted)) throw new Error(`${ask}\nwanted ${wanted}, and got ${said}`);
    }
  },
};
