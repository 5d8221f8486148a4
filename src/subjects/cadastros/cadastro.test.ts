/**
 * A municipality as its operator opens, reads and changes it, by commands on the database of DATABASE_URL. Certificates are made by
 * openssl. `cadastro-processo.maquina.test.ts` tests the same beside a running service.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseBeside, nfseHere } from '../../../test/support/cli.ts';
import { monotonicClock } from '../../../test/support/clock.ts';
import { databaseUrlOf, freshDatabase, pidOf, untilAwaited } from '../../../test/support/database.ts';
import { type Answer, emit, request } from '../../../test/support/http.ts';
import { CA, freshFolder, openssl, opensslAuthority } from '../../../test/support/openssl.ts';
import { nfse, type Said } from '../../../test/support/process.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { openPool } from '../../base/pg/open.ts';
import { RESERVED_SLUGS } from '../../base/world/slugs.ts';
import { exampleJson, exampleXml } from '../../fiscal/rules/example.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';
import { Transmissions } from '../../wiring/adn-access.ts';
import { migrate } from '../../wiring/migrate.ts';
import { createStore } from '../../wiring/store.ts';
import { keepCertificado, listCertificados } from '../municipios/certificados.files.ts';

/** IBGE codes. A code in production belongs to one municipality: São Paulo to `alfa`, which no test changes. */
const SAO_PAULO = '3550308';
const [RIO, CAMPINAS, SANTOS, OSASCO] = ['3304557', '3509502', '3548500', '3534401'];
const [MANAUS, BELEM, RECIFE, SALVADOR, VITORIA] = ['1302603', '1501402', '2611606', '2927408', '3205309'];
const [PALMAS, NATAL] = ['1721000', '2408102'];
const CNPJ = '11222333000181';
const SENHA = 'não-se-conta-123';

const folder = freshFolder();
process.chdir(folder);
const file = (name: string): string => path.join(folder, name);
const certificados = file('never/certificados');

let env: NodeJS.ProcessEnv = {};
let pool: ReturnType<typeof openPool>;

/** Most commands run here; some open the database themselves, two of them in a process of their own. */
const run = (...args: readonly string[]): Promise<Said> => nfseHere(args, pool);
const beside = (...args: readonly string[]): Promise<Said> => nfseBeside(args, env);
const spawned = (...args: readonly string[]): Promise<Said> => nfse(args, env, folder);
/** The output of a command that did not end as expected. */
const told = ({ code, out, err }: Said): string => `ended with ${code}\n${out}${err}`;

const done = (...args: readonly string[]): Promise<string> => outOf(run(...args));

async function outOf(running: Promise<Said>): Promise<string> {
  const said = await running;
  assert.equal(said.code, 0, told(said));
  assert.equal(said.err, '');
  return said.out;
}

/** Refused with all of these problems, and no others. */
async function refused(args: readonly string[], ...problems: readonly RegExp[]): Promise<void> {
  const said = await run(...args);
  assert.equal(said.code, 1, told(said));
  const [title, ...lines] = said.err.trimEnd().split('\n');
  assert.match(title!, /^Nada foi gravado\./);
  for (const problem of problems) assert.match(said.err, problem);
  assert.equal(lines.length, problems.length, said.err);
  assert.equal(said.out, '');
}

async function rowOf(slug: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await pool.query('select * from municipios where tenant = $1', [slug]);
  return rows[0];
}

/** A certificate of the municipality's key between two moments, `AAAAMMDDHHMMSSZ`. */
function dated(name: string, from: string, to: string): void {
  const config = ['[ca]', 'default_ca=own', '[own]', `database=${file('index.txt')}`, `new_certs_dir=${folder}`];
  const more = [
    'rand_serial=yes',
    'unique_subject=no',
    'default_md=sha256',
    'policy=any',
    '[any]',
    'commonName=supplied',
  ];
  writeFileSync(file('ca.cnf'), [...config, ...more, '[req]', 'distinguished_name=dn', '[dn]', ''].join('\n'));
  writeFileSync(file('index.txt'), '');
  const key = file('municipio.key');
  const named = ['-config', file('ca.cnf')];
  openssl('req', '-new', ...named, '-key', key, '-subj', '/CN=MUNICIPIO', '-out', file('pedido.csr'));
  const span = ['-startdate', from, '-enddate', to, '-in', file('pedido.csr'), '-out', file(name)];
  openssl('ca', '-selfsign', '-batch', '-notext', ...named, '-keyfile', key, ...span);
}

before(async () => {
  const database = await freshDatabase();
  env = { DATABASE_URL: databaseUrlOf(database), NFSE_DATA_DIR: file('never') };
  pool = openPool(database, () => undefined);
  onEnd(() => pool.end());
  await migrate(pool);

  const authority = opensslAuthority();
  const root = authority.issue({ subject: '/O=ICP-Brasil/CN=AC de Prova', extensions: CA });
  const subject = `/O=ICP-Brasil/CN=MUNICIPIO DE PROVA:${CNPJ}`;
  const town = authority.issue({ subject, issuer: root });
  const soon = authority.issue({ subject, issuer: root, days: 12 });
  const holder = 'keyUsage=critical,digitalSignature,nonRepudiation';
  const odd = (name: string, wish: Partial<Parameters<typeof authority.issue>[0]>): void =>
    writeFileSync(file(name), authority.issue({ subject, issuer: root, ...wish }).pem);
  odd('servidor.pem', { extensions: [holder, 'extendedKeyUsage=serverAuth'] });
  odd('cifra.pem', { extensions: ['keyUsage=critical,keyEncipherment', 'extendedKeyUsage=clientAuth'] });
  odd('sem-cnpj.pem', { subject: '/O=ICP-Brasil/CN=MUNICIPIO DE PROVA' });
  const other = authority.issue({ subject, issuer: root, key: 'other' });
  for (const name of ['ancoras', 'revogados', 'vazia', 'outra']) mkdirSync(file(name));
  writeFileSync(file('ancoras/raiz.pem'), root.pem);
  writeFileSync(file('outra/leia-me.txt'), 'nada');
  writeFileSync(file('revogados/lista.crl'), authority.revoke({ issuer: root, entries: [] }));
  writeFileSync(file('ca.pem'), root.pem);
  writeFileSync(file('municipio.pem'), town.pem);
  writeFileSync(file('municipio.key'), readFileSync(town.keyFile));
  writeFileSync(file('breve.pem'), soon.pem);
  writeFileSync(file('outro.key'), readFileSync(other.keyFile));
  writeFileSync(file('senha.txt'), `${SENHA}\n`);
  writeFileSync(file('outra-senha.txt'), 'errada\n');
  const named = ['-in', file('municipio.pem'), '-inkey', file('municipio.key'), '-out', file('municipio.pfx')];
  openssl('pkcs12', '-export', ...named, '-passout', `file:${file('senha.txt')}`);
  const hidden = ['-in', file('municipio.key'), '-out', file('cifrada.key'), '-aes256'];
  openssl('rsa', ...hidden, '-passout', `file:${file('senha.txt')}`);
  dated('vencido.pem', '20240101120000Z', '20250101120000Z');
  dated('futuro.pem', '20980101120000Z', '20990101120000Z');
  await done('municipio', 'criar', 'alfa', '--ibge', SAO_PAULO, ...WHOLE);
});

/** Every option of `municipio criar`. */
const WHOLE = [
  ...['--ancoras', 'ancoras', '--revogados', './revogados', '--aliquota', '3,5'],
  ...['--adn', 'https://adn.exemplo:8443/base/', '--adn-ca', 'ca.pem'],
  ...['--adn-pfx', 'municipio.pfx', '--adn-senha-arquivo', 'senha.txt'],
];
const CRIAR = ['--ibge', CAMPINAS];
const PEM = ['--adn-certificado', 'municipio.pem', '--adn-chave', 'municipio.key'];
const ADN = ['--adn', 'https://adn.exemplo:8443', ...PEM];

describe('nfse municipio criar', () => {
  test('opens one with all it has, keeps the paths whole, and neither key nor password', async () => {
    const said = await outOf(spawned('municipio', 'criar', 'inteiro', '--ibge', MANAUS, ...WHOLE));
    const { criado_em, ...row } = (await rowOf('inteiro'))!;
    assert.ok(criado_em instanceof Date);
    assert.deepEqual(row, {
      tenant: 'inteiro',
      ambiente: 'producao',
      codigo_ibge: MANAUS,
      aliquota_padrao: '3.50',
      ancoras: file('ancoras'),
      revogados: file('revogados'),
      adn_url: 'https://adn.exemplo:8443/base',
      adn_ca: file('ca.pem'),
      adn_certificado: null,
      adn_chave: null,
      adn_pfx: file('municipio.pfx'),
      adn_senha_arquivo: file('senha.txt'),
      adn_compressao: null,
      regras_nacionais: null,
      consulta_dps: null,
      assinatura_nacional: null,
      soap_sha1: false,
      soap_namespace: null,
      exige_numero: true,
      exige_nota_no_evento: true,
      fechado: false,
      ensaio_ate: null,
      aliquotas_ibs_cbs: null,
      brasao: null,
      cor: null,
      exige_cadastro: false,
      relogio_ms: '0',
      limite_endereco: null,
      limite_prestador: null,
      guarda_dias: null,
    });
    const shown = await done('municipio', 'mostrar', 'inteiro');
    for (const text of [said, shown]) {
      assert.ok(!text.includes(SENHA) && !text.includes('PRIVATE KEY') && !text.includes(CNPJ), text);
    }
  });

  test('needs the slug and the code alone: the national roots, and no transmission yet', async () => {
    const made = await done('municipio', 'criar', 'rio', '--ibge', RIO);
    assert.match(made, /Sem --adn as notas .* ficam à espera/);
    assert.match(made, /Não há lista de serviços nem alíquota padrão/);
    const shown = await done('municipio', 'mostrar', 'rio');
    assert.match(shown, /3304557 Rio de Janeiro\/RJ/);
    assert.match(shown, /raízes da ICP-Brasil/);
    assert.equal((await rowOf('rio'))?.['ambiente'], 'producao');
    const rehearsal = await done('municipio', 'criar', 'ensaio', '--ibge', RIO, '--ambiente', 'homologacao');
    assert.doesNotMatch(rehearsal, /alíquota padrão/);
    assert.equal((await rowOf('ensaio'))?.['ambiente'], 'homologacao');
  });

  test('says everything that is wrong at once', async () => {
    await refused(
      [
        'municipio',
        'criar',
        'São Paulo',
        '--ambiente',
        'teste',
        '--aliquota',
        '100,01',
        '--ancoras',
        'nada',
        '--adn',
        'http://u:s@adn?x',
      ],
      /endereço "São Paulo" não serve/,
      /Falta --ibge/,
      /--ambiente teste não existe: use producao ou homologacao/,
      /--aliquota 100,01 passa de 5 %, o máximo do ISSQN/,
      /--ancoras: a pasta \S+nada não existe/,
      /--adn precisa começar por https/,
      /--adn não leva usuário nem senha/,
      /--adn é só o endereço de base/,
      /Falta o certificado do município/,
    );
    assert.equal(await rowOf('são paulo'), undefined);
  });

  const cases: readonly [why: string, args: readonly string[], problem: RegExp][] = [
    ['a code that is nobody’s', ['--ibge', '3550309'], /--ibge 3550309 não é o código IBGE/],
    ['folder without anchors', [...CRIAR, '--ancoras', 'outra'], /outra não tem uma autoridade certificadora/],
    ['an empty folder', [...CRIAR, '--ancoras', 'vazia'], /vazia não tem uma autoridade certificadora/],
    ['a file for a folder', [...CRIAR, '--ancoras', 'ca.pem'], /ca\.pem não é uma pasta/],
    ['a folder without lists', [...CRIAR, '--revogados', 'ancoras'], /ancoras não tem uma lista de revogados/],
    ['no address', [...CRIAR, '--adn', 'adn', ...PEM], /--adn adn não é um endereço/],
    ['keys without address', [...CRIAR, ...PEM], /Falta --adn/],
    [
      'a key without certificate',
      [...CRIAR, ...ADN.slice(0, 2), '--adn-chave', 'municipio.key'],
      /Falta --adn-certificado/,
    ],
    ['a certificate without key', [...CRIAR, ...ADN.slice(0, 4)], /Falta --adn-chave/],
    [
      'a PFX without password',
      [...CRIAR, ...ADN.slice(0, 2), '--adn-pfx', 'municipio.pfx'],
      /falta --adn-senha-arquivo/,
    ],
    [
      'both',
      [...CRIAR, ...ADN, '--adn-pfx', 'municipio.pfx'],
      /--adn-pfx, ou --adn-certificado com --adn-chave; não os dois/,
    ],
    [
      'a CA that is none',
      [...CRIAR, ...ADN, '--adn-ca', 'senha.txt'],
      /--adn-ca: \S+senha\.txt não tem nenhum certificado/,
    ],
    ['the key of another', [...CRIAR, ...ADN.slice(0, 4), '--adn-chave', 'outro.key'], /municipio\.pem: .*não é par/],
    [
      'a key that is not there',
      [...CRIAR, ...ADN.slice(0, 4), '--adn-chave', 'nada.key'],
      /nada\.key: o arquivo não existe/,
    ],
    ['an expired one', [...CRIAR, ...ADN, '--adn-certificado', 'vencido.pem'], /venceu em 01\/01\/2025/],
    ['one of the future', [...CRIAR, ...ADN, '--adn-certificado', 'futuro.pem'], /só vale a partir de 01\/01\/2098/],
    [
      'the wrong password',
      [...CRIAR, ...ADN.slice(0, 2), '--adn-pfx', 'municipio.pfx', '--adn-senha-arquivo', 'outra-senha.txt'],
      /municipio\.pfx: .*senha/,
    ],
    [
      'an encrypted key without password',
      [...CRIAR, ...ADN.slice(0, 4), '--adn-chave', 'cifrada.key'],
      /cifrada\.key: .*cifrada/,
    ],
  ];
  test('refuses what cannot work, and says how to mend it', async () => {
    for (const [why, args, problem] of cases) {
      await refused(['municipio', 'criar', 'errado', ...args], problem).catch((error) => {
        throw new Error(`${why}: ${error.message}`);
      });
    }
    assert.equal(await rowOf('errado'), undefined);
  });

  test('takes an encrypted key with its password, and warns of one that ends soon', async () => {
    const named = ['--adn', 'https://adn.exemplo', '--adn-certificado', 'breve.pem', '--adn-chave', 'cifrada.key'];
    const said = await done(
      'municipio',
      'criar',
      'breve',
      '--ibge',
      SANTOS,
      ...named,
      '--adn-senha-arquivo',
      'senha.txt',
    );
    assert.match(said, /aviso +O certificado do município vence em 1[12] dias/);
  });

  const certificates: readonly [certificate: string, anchors: string | undefined, ...avisos: RegExp[]][] = [
    ['municipio.pem', 'ancoras'],
    ['servidor.pem', 'ancoras', /extendedKeyUsage\) não traz clientAuth/],
    ['cifra.pem', 'ancoras', /admite só keyEncipherment, e falta digitalSignature/],
    ['sem-cnpj.pem', 'ancoras', /não traz CNPJ/],
    ['municipio.pem', undefined, /emitido por "AC de Prova", não tem cadeia até as raízes da ICP-Brasil/],
    ['municipio.pem', 'alheia', /não tem cadeia até as âncoras do município ou as raízes da ICP-Brasil/],
  ];
  test('shows the certificate, and warns of one that the ADN may turn away', async () => {
    mkdirSync(file('alheia'));
    const stranger = opensslAuthority().issue({ subject: '/CN=Outra AC', extensions: CA });
    writeFileSync(file('alheia/raiz.pem'), stranger.pem);
    for (const [certificate, anchors, ...avisos] of certificates) {
      const trust = anchors === undefined ? [] : ['--ancoras', anchors];
      const keys = ['--adn', 'https://adn.exemplo', '--adn-certificado', certificate, '--adn-chave', 'municipio.key'];
      const ibge = ['--ibge', '3525904', '--aliquota', '5'];
      const said = await done('municipio', 'criar', 'vitrine', ...ibge, ...trust, ...keys);
      assert.match(said, /titular +MUNICIPIO DE PROVA/);
      assert.match(said, /validade +\d{2}\/\d{2}\/\d{4} a \d{2}\/\d{2}\/\d{4}\n/);
      assert.ok(!said.includes(CNPJ), said);
      const told = said.split('\n').filter((line) => line.startsWith('  aviso'));
      assert.equal(told.length, avisos.length, `${certificate}, ${anchors}: ${said}`);
      for (const aviso of avisos) assert.match(told.join('\n'), aviso);
      await done('municipio', 'excluir', 'vitrine', '--confirmar');
    }
  });

  test('opens none twice, and none where the service itself answers', async () => {
    await refused(['municipio', 'criar', 'alfa', ...CRIAR], /Já existe o município alfa/);
    await refused(['municipio', 'criar', 'integracao', ...CRIAR], /integracao é o ambiente de integração/);
    await refused(['municipio', 'criar', 'docs', ...CRIAR], /docs é reservado/);
    const { address } = await startTestService({ worker: false });
    const { body } = await request(address, '/');
    const own = [...String(body).matchAll(/(?:href="|<code>)[^"<]*?\/\/[^/"<]+\/([a-z]+)\//g)].map(
      (match) => match[1]!,
    );
    assert.ok(own.includes('health') && own.includes('docs'), own.join(' '));
    for (const slug of own) assert.ok(slug === 'integracao' || RESERVED_SLUGS.has(slug), slug);
  });

  test('asks for what is missing', async () => {
    const said = await beside('municipio', 'criar');
    assert.equal(said.code, 2);
    assert.match(said.err, /pede SLUG[\s\S]*--ibge CÓDIGO/);
  });
});

describe('nfse municipio mostrar, listar', () => {
  test('the certificate as openssl reads it, its document with points', async () => {
    const shown = await done('municipio', 'mostrar', 'alfa');
    assert.match(shown, /titular +MUNICIPIO DE PROVA, CNPJ 11\.222\.333\/0001-81\n/);
    assert.match(shown, /emissor +AC de Prova/);
    const end = new Date(String(openssl('x509', '-in', file('municipio.pem'), '-noout', '-enddate')).split('=')[1]!);
    const day = new Intl.DateTimeFormat('pt-BR', { timeZone: 'America/Sao_Paulo', dateStyle: 'short' }).format(end);
    assert.ok(shown.includes(`a ${day}`), `${day} in ${shown}`);
    assert.match(shown, /alíquota: 3\.50 %/);
    assert.match(shown, /arquivos +todos no lugar/);
  });

  test('a municipality in production is told that its addresses follow Host, unless NFSE_BASE_URL is set', async () => {
    const mostrar = (slug: string, base: NodeJS.ProcessEnv): Promise<string> =>
      outOf(nfseBeside(['municipio', 'mostrar', slug], { ...env, ...base }));
    assert.match(
      await mostrar('alfa', { NFSE_BASE_URL: '' }),
      /aviso +NFSE_BASE_URL não está definida: .*Host.*este comando não a vê/,
    );
    assert.doesNotMatch(await mostrar('alfa', { NFSE_BASE_URL: 'https://nfse.exemplo' }), /NFSE_BASE_URL/);
    assert.doesNotMatch(await mostrar('integracao', { NFSE_BASE_URL: '' }), /NFSE_BASE_URL/);
  });

  test('whether the files are there now', async () => {
    renameSync(file('municipio.pfx'), file('longe.pfx'));
    renameSync(file('ancoras'), file('longe'));
    const said = await run('municipio', 'mostrar', 'alfa');
    renameSync(file('longe.pfx'), file('municipio.pfx'));
    renameSync(file('longe'), file('ancoras'));
    assert.equal(said.code, 1);
    assert.match(said.out, /PROBLEMA .*municipio\.pfx: o arquivo não existe/);
    assert.match(said.out, /PROBLEMA .*a pasta \S+ancoras não existe/);
  });

  test('all of them, in order', async () => {
    const lines = (await outOf(beside('municipio', 'listar'))).trimEnd().split('\n');
    const slugs = lines.map((line) => line.split(/\s/, 1)[0]!);
    assert.deepEqual(slugs, slugs.toSorted());
    assert.ok(
      lines.some((line) =>
        /^alfa +producao +3550308 São Paulo\/SP +nenhuma nota à espera +ADN https:\/\/adn\.exemplo:8443\/base$/.test(
          line,
        ),
      ),
    );
  });

  test('one that is not there', async () => {
    const said = await spawned('municipio', 'mostrar', 'nenhum');
    assert.equal(said.code, 1);
    assert.match(said.err, /não existe o município nenhum\. nfse municipio listar/);
  });
});

describe('nfse municipio alterar', () => {
  const change = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    await done('municipio', 'alterar', 'beta', ...args);
    return (await rowOf('beta'))!;
  };

  test('judges lists that are named alone by the anchors that the municipality has', async () => {
    await done('municipio', 'criar', 'listas', '--ibge', '4106902', '--ancoras', 'ancoras');
    const said = await done('municipio', 'alterar', 'listas', '--revogados', 'revogados');
    assert.doesNotMatch(said, /aviso .*lista\.crl/);
    // Only these anchors count: the national ones include none of these authorities.
    const without = await done('municipio', 'alterar', 'listas', '--sem-ancoras', '--revogados', 'revogados');
    assert.match(without, /aviso .*lista\.crl: a LCR é de .*, cujo certificado não está na pasta de âncoras/);
    const empty = await done('municipio', 'alterar', 'listas', '--ancoras', 'ancoras', '--revogados', 'vazia');
    const unchecked = /aviso .*não há LCR de .* na pasta \S+vazia: a revogação do que ela emite não é verificada/;
    assert.match(empty, unchecked);
    assert.match(await done('municipio', 'mostrar', 'listas'), unchecked);
  });

  test('changes what is named and leaves the rest; takes away what is told so', async () => {
    await done(
      'municipio',
      'criar',
      'beta',
      ...CRIAR,
      ...ADN,
      '--ancoras',
      'ancoras',
      '--revogados',
      'revogados',
      '--aliquota',
      '2',
    );
    const first = (await rowOf('beta'))!;
    assert.deepEqual(await change('--aliquota', '5'), { ...first, aliquota_padrao: '5.00' });
    const without = { ...first, aliquota_padrao: null, revogados: null };
    assert.deepEqual(await change('--sem-aliquota', '--sem-revogados'), without);
    const withCa = { ...without, adn_ca: file('ca.pem'), adn_url: 'https://outro.exemplo' };
    assert.deepEqual(await change('--adn-ca', 'ca.pem', '--adn', 'https://outro.exemplo/'), withCa);
    const pfx = {
      adn_certificado: null,
      adn_chave: null,
      adn_pfx: file('municipio.pfx'),
      adn_senha_arquivo: file('senha.txt'),
    };
    const withPfx = { ...withCa, ...pfx, adn_ca: null, ancoras: null };
    const args = ['--adn-pfx', 'municipio.pfx', '--adn-senha-arquivo', 'senha.txt', '--sem-adn-ca', '--sem-ancoras'];
    assert.deepEqual(await change(...args), withPfx);
    const nothing = { adn_url: null, adn_pfx: null, adn_senha_arquivo: null };
    assert.deepEqual(await change('--sem-adn'), { ...withPfx, ...nothing });
    await outOf(beside('municipio', 'alterar', 'beta', '--ibge', OSASCO));
    assert.equal((await rowOf('beta'))?.['codigo_ibge'], OSASCO);
  });

  test('refuses the same as criar, and what contradicts itself', async () => {
    const before = await rowOf('alfa');
    await refused(
      ['municipio', 'alterar', 'alfa', '--sem-adn', '--adn', 'https://x'],
      /--adn e --sem-adn não andam juntos/,
    );
    await refused(
      ['municipio', 'alterar', 'alfa', '--adn-senha-arquivo', 'outra-senha.txt'],
      /municipio\.pfx: .*senha/,
    );
    assert.deepEqual(await rowOf('alfa'), before);
    const nothing = await run('municipio', 'alterar', 'alfa');
    assert.equal(nothing.code, 2);
    assert.match(nothing.err, /Nada a alterar/);
  });

  test('keeps code and ambiente once notes were numbered, and those of the sandbox always', async () => {
    await done('municipio', 'criar', 'numera', '--ibge', BELEM, ...ADN);
    await pool.query(`insert into numeracao (tenant, prestador, ultimo) values ('numera', $1, 1)`, [CNPJ]);
    await refused(['municipio', 'alterar', 'numera', '--ibge', RIO], /já emitiu notas/);
    await refused(['municipio', 'alterar', 'numera', '--ambiente', 'homologacao'], /já emitiu notas/);
    await done('municipio', 'alterar', 'numera', '--ibge', BELEM, '--aliquota', '4');
    await refused(['municipio', 'alterar', 'integracao', '--ambiente', 'producao'], /ambiente e código IBGE não mudam/);
    assert.match(
      await done('municipio', 'alterar', 'integracao', '--ancoras', 'ancoras'),
      /aviso +integracao é o ambiente de integração de todos: a mudança vale para quem quer que teste nele/,
    );
  });

  test('tells the old and the new value of what changed, and of nothing else', async () => {
    await done('municipio', 'criar', 'muda', '--ibge', RECIFE, '--aliquota', '4');
    const told = (...args: readonly string[]): Promise<string> => done('municipio', 'alterar', 'muda', ...args);
    assert.match(await told('--aliquota', '2,5'), /^Município alterado\.\n {2}alíquota {2}4\.00 % → 2\.50 %\n/);
    assert.match(await told('--aliquota', '2.50'), /^Nada mudou: o município já estava assim\.\n/);
    const back = await told('--sem-aliquota');
    assert.match(back, /^ {2}alíquota {2}2\.50 % → a da DPS$/m);
    assert.equal(back.match(/→/g)?.length, 1);
    assert.doesNotMatch(await told('--aliquota', '4'), /integração de todos/);
  });
});

describe('--regras-nacionais, --consulta-dps', () => {
  const shown = (slug: string): Promise<string> => done('municipio', 'mostrar', slug);

  test('are as in the ambiente until the municipality says otherwise', async () => {
    await done('municipio', 'criar', 'padrao', '--ibge', '3543402');
    assert.match(await shown('padrao'), /^ {2}regras nacionais {2}recusar, como no ambiente$/m);
    assert.match(await shown('padrao'), /^ {2}consulta da DPS {3}parte, como no ambiente$/m);
    await done('municipio', 'criar', 'prova', '--ibge', RIO, '--ambiente', 'homologacao');
    assert.match(await shown('prova'), /^ {2}regras nacionais {2}avisar, como no ambiente$/m);
    assert.match(await shown('prova'), /^ {2}consulta da DPS {3}publica, como no ambiente$/m);
    const { regras_nacionais, consulta_dps } = (await rowOf('padrao'))!;
    assert.deepEqual([regras_nacionais, consulta_dps], [null, null]);
  });

  test('are chosen at the beginning or later, and taken back', async () => {
    const choices = ['--regras-nacionais', 'recusar', '--consulta-dps', 'parte'];
    await done('municipio', 'criar', 'rigor', '--ibge', RIO, '--ambiente', 'homologacao', ...choices);
    assert.match(await shown('rigor'), /^ {2}regras nacionais {2}recusar$/m);
    assert.match(await shown('rigor'), /^ {2}consulta da DPS {3}parte$/m);
    await done('municipio', 'alterar', 'rigor', '--aliquota', '3');
    const kept = (await rowOf('rigor'))!;
    assert.deepEqual([kept['regras_nacionais'], kept['consulta_dps']], ['recusa', 'parte']);
    const said = await done('municipio', 'alterar', 'rigor', '--regras-nacionais', 'avisar', '--sem-consulta-dps');
    assert.match(said, /^ {2}regras nacionais {2}recusar → avisar$/m);
    assert.match(said, /^ {2}consulta da DPS {3}parte → publica, como no ambiente$/m);
    await done('municipio', 'alterar', 'rigor', '--sem-regras-nacionais');
    const back = (await rowOf('rigor'))!;
    assert.deepEqual([back['regras_nacionais'], back['consulta_dps']], [null, null]);
  });

  test('in production, only remarking is said to leave the refusal to the ADN', async () => {
    await done('municipio', 'criar', 'brando', '--ibge', SALVADOR);
    const said = await done('municipio', 'alterar', 'brando', '--regras-nacionais', 'avisar');
    assert.match(said, /aviso .*é emitida também a nota que o ADN deve recusar depois/);
    assert.doesNotMatch(await done('municipio', 'alterar', 'brando', '--regras-nacionais', 'recusar'), /deve recusar/);
  });

  test('refuses another word, and what contradicts itself', async () => {
    await refused(
      ['municipio', 'alterar', 'alfa', '--regras-nacionais', 'sim', '--consulta-dps', 'todos'],
      /--regras-nacionais sim não existe: use recusar ou avisar\./,
      /--consulta-dps todos não existe: use publica ou parte\./,
    );
    await refused(
      ['municipio', 'alterar', 'alfa', '--regras-nacionais', 'avisar', '--sem-regras-nacionais'],
      /--regras-nacionais e --sem-regras-nacionais não andam juntos/,
    );
  });

  test('of the sandbox too, where everybody is told', async () => {
    const said = await done('municipio', 'alterar', 'integracao', '--regras-nacionais', 'recusar');
    assert.match(said, /^ {2}regras nacionais {2}avisar, como no ambiente → recusar$/m);
    assert.match(said, /integracao é o ambiente de integração de todos/);
    await done('municipio', 'alterar', 'integracao', '--sem-regras-nacionais');
    assert.equal((await rowOf('integracao'))?.['regras_nacionais'], null);
  });

  test('let the sandbox refuse what production would, beside the running service', async () => {
    const service = await startTestService({ worker: false });
    const settle = async (option: string, wanted: number): Promise<Answer> => {
      const said = await nfseHere(['municipio', 'alterar', 'integracao', ...option.split(' ')], service.pool);
      assert.equal(said.code, 0, told(said));
      // A running service refreshes its cached settings after a moment.
      return until(async () => {
        const answer = await emit(service.address, exampleXml({ 'serv/cServ/cTribMun': '000' }));
        return answer.status === wanted ? answer : undefined;
      }, `${option}: ${wanted}`);
    };
    const strict = await settle('--regras-nacionais recusar', 422);
    assert.deepEqual(
      strict.body.erros.map(({ codigo, xpath }: { codigo: string; xpath: string }) => `${codigo} ${xpath}`),
      ['E0315 /DPS/infDPS/serv/cServ/cTribMun'],
    );
    const lenient = await settle('--sem-regras-nacionais', 201);
    assert.ok(lenient.body.avisos.some(({ codigo }: { codigo: string }) => codigo === 'E0315'));
  });
});

describe('a key that others may read', { skip: process.platform === 'win32' }, () => {
  test('is told of when it is named, when it is shown, and in the log, and anew when it is changed', async (t) => {
    const clock = monotonicClock(t);
    const warned = (text: string): readonly string[] =>
      [...text.matchAll(/chmod 600 ([^\s"]+)/g)].map(([, name]) => name!);
    assert.deepEqual(warned(await done('municipio', 'criar', 'fechado', '--ibge', '3550704', ...ADN)), []);
    // The folder's permissions have kept other users out so far.
    chmodSync(folder, 0o755);
    chmodSync(file('municipio.key'), 0o644);
    try {
      assert.deepEqual(warned(await done('municipio', 'mostrar', 'fechado')), [file('municipio.key')]);
      const pfx = ['--adn-pfx', 'municipio.pfx', '--adn-senha-arquivo', 'senha.txt'];
      for (const name of ['municipio.pfx', 'senha.txt']) chmodSync(file(name), 0o644);
      const said = await done(
        'municipio',
        'criar',
        'exposto',
        '--ibge',
        '3550803',
        '--adn',
        'https://adn.exemplo',
        ...pfx,
      );
      assert.deepEqual(warned(said), [file('municipio.pfx'), file('senha.txt')]);
      const logged: string[] = [];
      const quiet = (): void => undefined;
      const warn = (about: object, message: string): void => void logged.push(`${JSON.stringify(about)} ${message}`);
      const transmissions = new Transmissions({ info: quiet, error: quiet, warn });
      const exposto = (await createStore(pool).municipios.findBySlug('exposto'))!;
      const used = async (): Promise<readonly string[]> => {
        clock.passMs(10_000);
        await transmissions.of(exposto);
        return logged.flatMap(warned);
      };
      await transmissions.warnOfFiles(exposto);
      assert.deepEqual(await used(), [file('municipio.pfx'), file('senha.txt')]);
      chmodSync(file('municipio.pfx'), 0o600);
      assert.deepEqual((await used()).slice(2), [file('senha.txt')]);
      chmodSync(file('senha.txt'), 0o600);
      assert.equal((await used()).length, 3);
      chmodSync(file('municipio.pfx'), 0o644);
      assert.deepEqual((await used()).slice(3), [file('municipio.pfx')]);
      await transmissions.close();
      assert.ok(logged.every((line) => line.startsWith('{"tenant":"exposto"}') && !line.includes(SENHA)));
    } finally {
      chmodSync(folder, 0o700);
    }
  });
});

describe('--exigir-numero', () => {
  const OPEN = /cada envio emite outra nota.*\n[\s\S]*--exigir-chave-no-evento/;

  test('is on in a new municipality unless it says no, as is the note of an event; and both are shown, taken back and asked for', async () => {
    await done('municipio', 'criar', 'novo', '--ibge', '3550407');
    const shown = (slug: string): Promise<string> => done('municipio', 'mostrar', slug);
    const fresh = await shown('novo');
    assert.match(fresh, /^ {2}DPS sem número {4}recusada\n {2}evento sem nota {3}recusado$/m);
    assert.doesNotMatch(fresh, OPEN);
    const said = await done('municipio', 'alterar', 'novo', '--sem-exigir-numero', '--sem-exigir-chave-no-evento');
    assert.match(said, /DPS sem número +recusada → aceita, e numerada\n +evento sem nota +recusado → aceito\n/);
    assert.match(said, OPEN);
    await done('municipio', 'alterar', 'novo', '--aliquota', '3');
    assert.match(await shown('novo'), OPEN);
    for (const name of ['exigir-numero', 'exigir-chave-no-evento']) {
      await refused(
        ['municipio', 'alterar', 'novo', `--${name}`, `--sem-${name}`],
        new RegExp(`--${name} e --sem-${name} não andam juntos`),
      );
    }
    await done('municipio', 'alterar', 'novo', '--exigir-numero', '--exigir-chave-no-evento');
    const { exige_numero, exige_nota_no_evento } = (await rowOf('novo'))!;
    assert.deepEqual([exige_numero, exige_nota_no_evento], [true, true]);
    const open = ['--sem-exigir-numero', '--sem-exigir-chave-no-evento'];
    assert.match(await done('municipio', 'criar', 'aberto', '--ibge', '3550506', ...open), OPEN);
    const row = (await rowOf('aberto'))!;
    assert.deepEqual([row['exige_numero'], row['exige_nota_no_evento']], [false, false]);
  });

  test('is off in one that was there before, and in the sandbox, which is told of neither', async () => {
    await pool.query(
      `insert into municipios (tenant, ambiente, codigo_ibge, criado_em) values ('de-antes', 'producao', '3550605', now())`,
    );
    const shown = await done('municipio', 'mostrar', 'de-antes');
    assert.match(shown, /^ {2}DPS sem número {4}aceita, e numerada\n {2}evento sem nota {3}aceito$/m);
    assert.match(shown, OPEN);
    assert.doesNotMatch(await done('municipio', 'mostrar', 'integracao'), OPEN);
  });

  test('refuses a DPS without number, in XML and in JSON, in the dry run too, and says what to send', async () => {
    const { address, store, clock } = await startTestService({ worker: false });
    await store.municipios.create(
      { tenant: 'numerado', ambiente: 'homologacao', codigoIbge: SAO_PAULO, exigeNumero: true },
      clock.now,
    );
    const send = (patch: Patch, isJson: boolean, end: string): Promise<Answer> =>
      request(address, `/numerado/api/v1/nfse/v101${end}`, {
        method: 'POST',
        headers: { 'Content-Type': isJson ? 'application/json' : 'application/xml' },
        body: isJson ? exampleJson(patch)! : exampleXml(patch),
      });
    for (const end of ['', '/validacao']) {
      for (const isJson of [false, true]) {
        for (const patch of [{}, { serie: '7' }]) {
          const { status, body } = await send(patch, isJson, end);
          assert.equal(status, 422);
          const [erro, ...more] = body.erros;
          assert.deepEqual([erro.codigo, erro.xpath, more], ['E002', '/DPS/infDPS/nDPS', []]);
          const names = isJson ? 'serie_dps e numero_dps' : 'serie e nDPS';
          assert.match(erro.mensagem, new RegExp(`só emite DPS com número.* Envie ${names}: `));
        }
        const nDPS = end === '' ? (isJson ? '1' : '2') : '3';
        const numbered = await send({ serie: '7', nDPS }, isJson, end);
        assert.equal(numbered.status, end === '' ? 201 : 200, JSON.stringify(numbered.body));
      }
    }
  });
});

describe('a code in production', () => {
  const TAKEN =
    /^ {2}3550308 São Paulo\/SP já está em produção no endereço alfa, .*nfse municipio alterar alfa .*excluir alfa/m;

  test('is that of one tenant alone, whichever way a second one comes to it', async () => {
    await refused(['municipio', 'criar', 'gama', '--ibge', SAO_PAULO], TAKEN);
    assert.equal(await rowOf('gama'), undefined);
    await done('municipio', 'criar', 'delta', '--ibge', VITORIA);
    await refused(['municipio', 'alterar', 'delta', '--ibge', SAO_PAULO], TAKEN);
    await done('municipio', 'criar', 'gama', '--ibge', SAO_PAULO, '--ambiente', 'homologacao');
    await refused(['municipio', 'alterar', 'gama', '--ambiente', 'producao'], TAKEN);
    await done('municipio', 'alterar', 'gama', '--aliquota', '3');
    await done('municipio', 'alterar', 'gama', '--ambiente', 'producao', '--ibge', '3505708');
  });

  test('goes to one of many that ask for it at once', async () => {
    const slugs = Array.from({ length: 6 }, (_, place) => `corrida${place}`);
    const said = await Promise.all(slugs.map((slug) => run('municipio', 'criar', slug, '--ibge', '3518800')));
    assert.equal(said.filter(({ code }) => code === 0).length, 1);
    for (const { code, err } of said)
      if (code !== 0) assert.match(err, /3518800 .* já está em produção no endereço corrida\d/);
  });

  test('is free as soon as its holder leaves it, also in the midst of taking it', async () => {
    const code = '3513801';
    const holder = await pool.connect();
    const pid = await pidOf(holder);
    await holder.query('begin');
    await holder.query(`insert into codigos_em_producao (codigo_ibge, tenant) values ($1, 'morto')`, [code]);
    const asked = run('municipio', 'criar', 'herdeiro', '--ibge', code);
    await untilAwaited(pool, pid);
    await pool.query('select pg_terminate_backend($1::int)', [pid]);
    holder.release(true);
    assert.equal((await asked).code, 0);
    await done('municipio', 'alterar', 'herdeiro', '--ibge', '3506003');
    await done('municipio', 'criar', 'seguinte', '--ibge', code);
    await done('municipio', 'excluir', 'seguinte', '--confirmar');
    await done('municipio', 'criar', 'ultimo', '--ibge', code);
  });

  test('shared from before stays mendable in everything else', async () => {
    const copied = `insert into municipios (tenant, ambiente, codigo_ibge, criado_em) values ('antigo', 'producao', $1, now())`;
    await pool.query(copied, [SAO_PAULO]);
    await done('municipio', 'alterar', 'antigo', '--aliquota', '3');
    assert.equal((await rowOf('antigo'))?.['aliquota_padrao'], '3.00');
    await done('municipio', 'excluir', 'antigo', '--confirmar');
  });
});

describe('nfse municipio excluir', () => {
  test('says what would go, and takes it away when that is confirmed', async () => {
    await done('municipio', 'criar', 'engano', '--ibge', '3547809');
    const header = 'documento,razao_social,inscricao_municipal,autorizado,simples_inicio,simples_fim';
    writeFileSync(file('engano.csv'), `${header}\n${CNPJ},Empresa,1,sim,2020-01-01,\n`);
    await done('prestador', 'importar', 'engano.csv', '--municipio', 'engano');
    const kept = await keepCertificado(certificados, 'engano', '0123456789abcdef', {
      certificado: 'um',
      chave: 'outra',
    });
    assert.ok(kept);
    const asked = await beside('municipio', 'excluir', 'engano');
    assert.deepEqual([asked.code, asked.out], [2, '']);
    assert.match(
      asked.err,
      /Seria excluído o município engano:[\s\S]*3547809 Santo André\/SP[\s\S]*prestadores .* 1\n/,
    );
    assert.match(asked.err, /certificados do console +1, nesta máquina, com as chaves\n/);
    assert.match(asked.err, /Para excluir: nfse municipio excluir engano --confirmar/);
    assert.ok(await rowOf('engano'));
    assert.equal((await listCertificados(certificados, 'engano')).length, 1);
    const said = await outOf(beside('municipio', 'excluir', 'engano', '--confirmar'));
    assert.match(said, /Município engano excluído/);
    assert.equal(await rowOf('engano'), undefined);
    assert.deepEqual(readdirSync(certificados), []);
    const left = await pool.query(`select tenant from prestadores where tenant = 'engano'
      union all select tenant from simples_nacional where tenant = 'engano'`);
    assert.equal(left.rowCount, 0);
    await done('municipio', 'criar', 'certo', '--ibge', '3547809');
  });

  test('not one that has issued, nor the sandbox, nor one that is not there', async () => {
    await done('municipio', 'criar', 'emissor', '--ibge', PALMAS, ...ADN);
    await pool.query(`insert into numeracao (tenant, prestador, ultimo) values ('emissor', $1, 1)`, [CNPJ]);
    for (const [slug, why] of [
      ['emissor', /Nada foi excluído\. O município já emitiu notas.*nfse municipio alterar emissor --sem-adn$/m],
      ['integracao', /Nada foi excluído\. integracao é o ambiente de integração de todos/],
      ['nenhum', /não existe o município nenhum/],
    ] as const) {
      const said = await run('municipio', 'excluir', slug, '--confirmar');
      assert.equal(said.code, 1);
      assert.match(said.err, why);
    }
    assert.ok((await rowOf('emissor')) && (await rowOf('integracao')));
  });
});

describe('--aliquota', () => {
  before(() => done('municipio', 'criar', 'taxado', '--ibge', NATAL));
  const said = (text: string): Promise<string> => done('municipio', 'alterar', 'taxado', '--aliquota', text);

  test('is refused outside of what LC 116 allows, with the article', async () => {
    const missing =
      /aviso +Não há lista de serviços nem alíquota padrão: a DPS de operação tributada que não trouxer pAliq será recusada \(E0619, E0640\)\. .*nfse municipio alterar taxado --aliquota 5\.00; .*nfse servicos importar ARQUIVO --municipio taxado/;
    assert.match(await done('municipio', 'mostrar', 'taxado'), missing);
    assert.match(await done('municipio', 'alterar', 'taxado', '--ancoras', 'ancoras'), missing);
    for (const text of ['2', '2,00', '3.5', '5', '5.00'])
      assert.doesNotMatch(await said(text), /A alíquota|alíquota padrão/);
    assert.match(await done('municipio', 'alterar', 'taxado', '--sem-aliquota'), missing);
    const alter = (text: string) => ['municipio', 'alterar', 'taxado', '--aliquota', text];
    for (const text of ['5.01', '7', '9.99', '100'])
      await refused(alter(text), /passa de 5 %, o máximo do ISSQN \(LC 116\/2003, art\. 8º, II\)/);
    for (const text of ['1,99', '0.05', '0'])
      await refused(alter(text), /abaixo de 2 %, o mínimo do ISSQN .*art\. 8º-A.*5 % se escreve 5\./);
    assert.equal((await rowOf('taxado'))?.['aliquota_padrao'], null);
  });

  test('has no effect beside a list of services, and says so', async () => {
    const header = 'codigo,descricao,codigo_tributacao_nacional,cnae_codigo,aliquota,inicio,fim';
    const lines = ['001,A,010101,,5,2020-01-01,', '002,B,170101,,5,2020-01-01,', '003,C,010201,,1,2020-01-01,'];
    writeFileSync(file('servicos.csv'), `${[header, ...lines].join('\n')}\n`);
    const imported = await done('servicos', 'importar', 'servicos.csv', '--municipio', 'taxado', '--confirmar');
    assert.match(imported, /novos 3/);
    assert.match(await said('3'), /aviso +Há lista de serviços importada, e é dela que vem a alíquota/);
    assert.doesNotMatch(await done('municipio', 'alterar', 'taxado', '--ancoras', 'ancoras'), /lista de serviços/);
  });
});
