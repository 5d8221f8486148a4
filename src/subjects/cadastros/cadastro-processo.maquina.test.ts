/**
 * Municipalities that other processes open and change while a service runs: the service sees the changes, and its log reports their files.
 */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { nfseBeside } from '../../../test/support/cli.ts';
import { databaseUrlOf, freshDatabase } from '../../../test/support/database.ts';
import { request } from '../../../test/support/http.ts';
import { readyKeys } from '../../../test/support/keys.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { nfse, readyDataDir, type Said, startServiceProcess } from '../../../test/support/process.ts';
import { until, untilTrue } from '../../../test/support/until.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { signDocument } from '../assinatura/sign.ts';
import { makePki } from '../municipios/make-pki.ts';

const SAO_PAULO = '3550308';
const CNPJ = '11222333000181';
const SENHA = 'não-se-conta-123';

async function checked(running: Promise<Said>): Promise<Said> {
  const said = await running;
  assert.equal(said.code, 0, `ended with ${said.code}\n${said.out}${said.err}`);
  return said;
}

test('a key that others may read is told in the log at the start, of a municipality that sends nothing too', {
  skip: process.platform === 'win32' ? 'Windows has no such rights' : false,
}, async () => {
  const folder = freshFolder();
  const pasta = path.join(folder, 'pki');
  await makePki({ pasta, cnpjs: [CNPJ], senha: SENHA, recusados: false, agora: Date.now(), makeKeys: readyKeys });
  const files = [path.join(pasta, `prestadores/${CNPJ}.pfx`), path.join(folder, 'senha.txt')] as const;
  writeFileSync(files[1], SENHA);
  const env = { DATABASE_URL: databaseUrlOf(await freshDatabase()) };
  const keys = ['--adn', 'https://adn.exemplo', '--adn-pfx', files[0], '--adn-senha-arquivo', files[1]];
  await checked(nfseBeside(['municipio', 'criar', 'exposto', '--ibge', '3550803', ...keys], env));
  for (const name of [folder, pasta, path.dirname(files[0])]) chmodSync(name, 0o755);
  for (const name of files) chmodSync(name, 0o644);
  const service = await startServiceProcess(env);
  const warned = (): readonly string[] =>
    [...service.output().matchAll(/"tenant":"exposto".*chmod 600 ([^\s"]+)/g)].map(([, name]) => name!);
  await untilTrue(() => warned().length > 1, 'the warning of a municipality that sends nothing');
  assert.deepEqual(warned(), files);
  await service.end('SIGTERM');
});

describe('beside a running service with the embedded server', () => {
  test('a municipality and its registry count at once: E101, E102, E103, E0310, E402, and then a note', async () => {
    const dataDir = await readyDataDir();
    const beside = { NFSE_DATA_DIR: dataDir };
    const inData = (name: string): string => path.join(dataDir, name);
    /** The program opens and closes the database of the folder. Most commands run in this process, two in processes of their own. */
    const command = (...args: readonly string[]): Promise<Said> => checked(nfseBeside(args, beside));
    const program = (...args: readonly string[]): Promise<Said> => checked(nfse(args, beside, dataDir));
    const service = await startServiceProcess(beside);
    const now = Date.now();
    const pasta = inData('pki');
    await makePki({ pasta, cnpjs: [CNPJ], senha: SENHA, recusados: false, agora: now, makeKeys: readyKeys });

    const keys = { pfx: path.join(dataDir, `pki/prestadores/${CNPJ}.pfx`), senha: SENHA };
    let number = 0;
    const send = async (patch: Parameters<typeof exampleXml>[0] = {}): Promise<string> => {
      number += 1;
      const dps = Buffer.from(exampleXml({ tpAmb: '1', serie: '1', nDPS: String(number), ...patch }));
      const { text } = await signDocument(dps, keys, Date.now());
      const headers = { 'Content-Type': 'application/xml' };
      const { body, status } = await request(service.address, '/prova/api/v1/nfse/v101', {
        method: 'POST',
        headers,
        body: text,
      });
      return status === 201 ? 'OK' : `${body.codigo_erro}`;
    };
    /** Settings are cached for two seconds. */
    const eventually = async (wanted: string, patch?: Parameters<typeof exampleXml>[0]): Promise<void> => {
      await until(async () => ((await send(patch)) === wanted ? true : undefined), `the answer ${wanted}`);
    };

    assert.equal(await send(), 'E601', 'no such municipality');
    await program(
      'municipio',
      'criar',
      'prova',
      '--ibge',
      SAO_PAULO,
      '--ancoras',
      'pki/ancoras',
      '--revogados',
      'pki/revogados',
    );
    await eventually('E101');

    const providers = (line: string): void =>
      writeFileSync(
        path.join(dataDir, 'prestadores.csv'),
        `documento,razao_social,inscricao_municipal,autorizado,simples_inicio,simples_fim\n${line}\n`,
      );
    const imported = (): Promise<Said> =>
      command('prestador', 'importar', inData('prestadores.csv'), '--municipio', 'prova');
    providers(`${CNPJ},Empresa da Prova,00.123-4,nao,,`);
    await imported();
    await eventually('E102');
    providers(`${CNPJ},Empresa da Prova,1234,sim,,`);
    await imported();
    await eventually('OK');
    assert.equal(await send({ 'prest/IM': '9999' }), 'E103');
    assert.equal(await send({ 'prest/IM': '01234' }), 'OK');

    writeFileSync(
      path.join(dataDir, 'servicos.csv'),
      'codigo,descricao,codigo_tributacao_nacional,cnae_codigo,aliquota,inicio,fim\n007,Consultoria,170101,,5,2020-01-01,\n',
    );
    // The notes that were issued without a list would be refused by this one, and that is asked about.
    const importing = ['servicos', 'importar', inData('servicos.csv'), '--municipio', 'prova'] as const;
    const asked = await nfseBeside(importing, beside);
    assert.equal(asked.code, 1);
    assert.match(asked.err, /Confirme: Com esta lista, .* seriam recusadas: .*E0310/);
    await command(...importing, '--confirmar');
    await eventually('E0310');
    assert.equal(await send({ 'serv/cServ/cTribNac': '170101' }), 'OK');
    assert.equal(await send({ 'serv/cServ/cTribNac': '170101', 'serv/cServ/cTribMun': '008' }), 'E402');
    assert.equal(await send({ 'serv/cServ/cTribNac': '170101', 'serv/cServ/cTribMun': '007' }), 'OK');

    // The commands came and went; the service and its database did not.
    assert.equal((await request(service.address, '/health/ready')).status, 200);
    assert.equal(await service.end('SIGINT'), 0);
    const alone = await program('municipio', 'mostrar', 'prova');
    assert.match(alone.out, /prestadores +1\n/);
    const shown = await command('prestador', 'mostrar', '11.222.333/0001-81', '--municipio', 'prova');
    assert.match(shown.out, /inscrição 1234: Empresa da Prova, autorizado/);
  });
});
