/** Behind the nginx of Debian as its file in `deploy` says, with mutual TLS: the certificate of a client is seen, and nobody can claim one. */
import { way } from './emitir.ts';
import { isReady, REHEARSAL } from './instalar.ts';
import { until } from './maquina.ts';
import { isInArchive, type Step } from './vida.ts';

const SITE = 'nfse.exemplo.gov.br';
const TLS = '/etc/nfse/tls';
const SITUACAO = `https://${SITE}/exemplo/api/v1/prestadores/11222333000181/situacao`;
const SETTINGS = `NFSE_BASE_URL=https://${SITE}
NFSE_TRUST_PROXY=1
NFSE_CLIENT_CERT_HEADER=X-Client-Cert
`;

export const PROXY: Step = {
  name: 'nginx na frente, com TLS mútuo',
  needs: async (life) => ((await isInArchive(life, 'deploy/nginx.conf')) ? undefined : 'deploy/nginx.conf'),
  run: async (life) => {
    const { machine } = life;
    await machine.do(`mkdir -p ${TLS}; cd ${TLS}
      openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=${SITE} -addext subjectAltName=DNS:${SITE},DNS:painel.exemplo.gov.br \\
        -keyout chave.pem -out certificado.pem 2>/dev/null
      echo 127.0.0.1 ${SITE} painel.exemplo.gov.br >> /etc/hosts
      printf '${SETTINGS}' >> /etc/nfse.env
      cp /opt/nfse/deploy/nginx.conf /etc/nginx/sites-available/nfse
      ln -sf ../sites-available/nfse /etc/nginx/sites-enabled/nfse && rm -f /etc/nginx/sites-enabled/default
      nginx -t -q && systemctl reload-or-restart nginx
      systemctl restart nfse`);
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
