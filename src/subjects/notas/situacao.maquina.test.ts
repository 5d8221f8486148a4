/** The program's own service with TLS: it recognises client certificates, and does not start with inconsistent files. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { databaseUrlOf, freshDatabase } from '../../../test/support/database.ts';
import { readyKeys } from '../../../test/support/keys.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { nfse, startServiceProcess } from '../../../test/support/process.ts';
import { askOverTls } from '../../../test/support/tls-request.ts';
import {
  companyCertificate,
  intermediateAuthority,
  pemOf,
  rootAuthority,
  serverCertificate,
} from '../../documents/pki.ts';
import { DAY_MS } from '../../fiscal/moment.ts';

const PRESTADOR = '11222333000181';

const folder = freshFolder();
const file = (name: string, text: string): string => {
  writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
};

const validity = { inicio: Date.now() - DAY_MS, fim: Date.now() + 30.5 * DAY_MS };
const [rootKeys, acKeys, serverKeys, holderKeys] = await Promise.all([
  readyKeys(),
  readyKeys(),
  readyKeys(),
  readyKeys(),
]);
const root = rootAuthority('AC Raiz de Teste', rootKeys, validity);
/** The intermediate authority of all clients, which no folder of the municipality contains. */
const authority = intermediateAuthority(root, 'AC de Teste', acKeys, validity);
const ca = pemOf('CERTIFICATE', root.certificate);
file('raiz.pem', ca);
const keyPem = ({ privateKey }: Awaited<ReturnType<typeof readyKeys>>): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const names = { dns: ['localhost'], ips: ['127.0.0.1'] };
const serverPem = pemOf(
  'CERTIFICATE',
  serverCertificate(authority, names, serverKeys.publicKey, validity),
  authority.certificate,
);
const responsavel = { nome: 'Responsável', cpf: '12345678909', nascimento: '1980-01-31' };
const holder = { razaoSocial: 'Empresa de Teste', cnpj: PRESTADOR, responsavel };
const client = {
  cert: pemOf(
    'CERTIFICATE',
    companyCertificate(authority, holder, holderKeys.publicKey, validity),
    authority.certificate,
  ),
  key: keyPem(holderKeys),
};

const situacao = (tenant: string): string => `/${tenant}/api/v1/prestadores/${PRESTADOR}/situacao`;

describe('the service with TLS of its own', () => {
  test('answers in https, and knows who shows a certificate', async () => {
    const env = {
      DATABASE_URL: databaseUrlOf(await freshDatabase()),
      NFSE_TLS_CERTIFICADO: file('servidor.crt', serverPem),
      NFSE_TLS_CHAVE: file('servidor.key', keyPem(serverKeys)),
    };
    const { address } = await startServiceProcess(env);
    assert.match(address, /^https:\/\/127\.0\.0\.1:\d+$/);
    const said = await nfse(['municipio', 'criar', 'cidade', '--ibge', '3550308', '--ancoras', folder], env);
    assert.equal(said.code, 0, said.err);
    assert.equal((await askOverTls(`${address}${situacao('integracao')}`, { ca })).status, 200);
    const answer = await askOverTls(`${address}${situacao('cidade')}`, { ca, ...client });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.equal(answer.body.certificado.dias_restantes, 30);
    assert.equal(answer.body.pendencias[0].codigo, 'E101');
    const refused = await askOverTls(`${address}${situacao('cidade')}`, { ca });
    assert.deepEqual([refused.status, refused.body.codigo_erro], [401, 'E9007'], JSON.stringify(refused.body));
    assert.match(refused.body.mensagem, /Nenhum certificado veio com a conexão/);
    // A connection without TLS gets no answer, and does no harm.
    await assert.rejects(fetch(address.replace('https', 'http')));
    assert.equal((await askOverTls(`${address}/health/ready`, { ca })).status, 200);
  });

  test('does not start on files that do not fit, and says which', async () => {
    const whole = { NFSE_TLS_CERTIFICADO: file('s.crt', serverPem), NFSE_TLS_CHAVE: file('s.key', client.key) };
    for (const [env, message] of [
      [whole, /NFSE_TLS_CERTIFICADO e NFSE_TLS_CHAVE não são um certificado em PEM .* e a chave privada dele/],
      [
        { ...whole, NFSE_TLS_CHAVE: path.join(folder, 'nada.key') },
        /NFSE_TLS_CHAVE: o arquivo \S+nada\.key não existe/,
      ],
    ] as const) {
      const said = await nfse(['serve'], { NFSE_DATA_DIR: path.join(folder, 'never'), ...env });
      assert.equal(said.code, 1);
      assert.match(said.err, message);
    }
  });
});
