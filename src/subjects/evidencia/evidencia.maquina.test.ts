/**
 * An expert's check of a note's evidence bundle: the commands of its page run in an empty folder with the real `openssl`, `xmlsec1` and
 * `sha256sum`. Each prints the answer of the page, and fails after one byte of a file that it names is changed.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { assinarCms, lerCertificado } from '../../../packages/cliente/src/index.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { CANCELAMENTO } from '../../../test/support/eventos.ts';
import { emit, request } from '../../../test/support/http.ts';
import { readyKeys } from '../../../test/support/keys.ts';
import { addPrestador } from '../../../test/support/municipio.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { all, sendLote } from '../../../test/support/rps.ts';
import { NOON, PROGRAMA, startTestService, type TestService } from '../../../test/support/service.ts';
import { companyOf, DECADES, PROVIDER_CNPJ, partyOf, signedBy } from '../../../test/support/signatures.ts';
import { signedLot } from '../../../test/support/signed-lots.ts';
import { montarPalco, type Palco, simuladorAqui } from '../../../test/support/simulador.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { until } from '../../../test/support/until.ts';
import { useArquivo } from '../../base/book/arquivo.ts';
import {
  companyCertificate,
  intermediateAuthority,
  pemOf,
  revocationList,
  rootAuthority,
} from '../../documents/pki.ts';
import { dpsIdOf } from '../../fiscal/chave.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleJson, exampleXml } from '../../fiscal/rules/example.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';
import { Transmissions } from '../../wiring/adn-access.ts';
import { sealDays } from '../auditoria/auditoria.ts';
import { fecharMes } from '../guarda/arquivar.ts';
import { releaseNotas } from '../notas/release.job.ts';
import { makeEvidencia } from './evidencia.ts';

const [SLUG, IBGE] = ['sao-paulo', '3550308'];
const API = `/${SLUG}/api/v1`;
const TOOLS = [toolOr('xmlsec1', 'xmlsec1'), toolOr('openssl', 'openssl'), toolOr('unzip', 'unzip')];
const skip = TOOLS.includes(undefined) ? 'xmlsec1, openssl or unzip is not here' : false;

const plainText = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

type Comando = { readonly comando: string; readonly resposta: string };

/** The commands of the page with their expected output. */
function comandosOf(folder: string): readonly Comando[] {
  const page = readFileSync(path.join(folder, 'LEIA-ME.html'), 'utf8');
  const found = [...page.matchAll(/<pre class="comando">(.*?)<\/pre>.*?<pre class="resposta">(.*?)<\/pre>/gs)];
  const text = readFileSync(path.join(folder, 'LEIA-ME.txt'), 'utf8');
  return found.map(([, comando, resposta]) => {
    const one = { comando: plainText(comando!), resposta: plainText(resposta!) };
    assert.ok(text.includes(`    ${one.comando}\n`), `LEIA-ME.txt has the same commands: ${one.comando}`);
    return one;
  });
}

function run(folder: string, { comando, resposta }: Comando): { readonly isFine: boolean; readonly out: string } {
  const env = { PATH: process.env['PATH'], LC_ALL: 'C' };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', comando], { cwd: folder, env, encoding: 'utf8' });
  const out = `${stdout}${stderr}`;
  return { isFine: status === 0 && out.includes(resposta), out };
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(path.join(folder, name)).isFile(),
  );

/** Extracts a bundle into an empty folder, and returns its commands. */
function extract(zip: Buffer): { readonly folder: string; readonly comandos: readonly Comando[] } {
  const file = path.join(freshFolder(), 'conjunto.zip');
  writeFileSync(file, zip);
  const folder = freshFolder();
  assert.equal(spawnSync('unzip', ['-q', file, '-d', folder]).status, 0, 'unzip takes it');
  const comandos = comandosOf(folder);
  for (const one of comandos) {
    const { isFine, out } = run(folder, one);
    assert.ok(isFine, `${one.comando}\n${out}`);
  }
  return { folder, comandos };
}

/** Files in which only `sha256sum` checks every byte. Other commands read anchors and signers only in part, and some files not at all. */
const ONLY_IN_SUMS = /(?<!\/declaracao|\/pedido)\.json$|^LEIA-ME|(?<!listas|autoridades)\.pem$|auditoria\//;

/** Changes a byte of each file in turn: the commands that name it no longer give their answer. */
function flipEach(folder: string, comandos: readonly Comando[]): void {
  const sums = comandos.find(({ comando }) => comando.startsWith('sha256sum'))!;
  for (const name of filesIn(folder).filter((one) => !MADE.includes(one))) {
    const file = path.join(folder, name);
    const bytes = readFileSync(file);
    const other = Buffer.from(bytes);
    const at = Math.floor(other.length / 2);
    other[at] = other[at]! ^ 1;
    writeFileSync(file, other);
    if (name !== 'SHA256SUMS.assinatura')
      assert.ok(!run(folder, sums).isFine, `sha256sum sees that ${name} has changed`);
    if (!ONLY_IN_SUMS.test(name)) {
      const named = comandos.filter(({ comando }) => comando.split(/\s+/).includes(name));
      const told = named.map(({ comando }) => comando).join(' or ');
      assert.ok(
        named.some((one) => !run(folder, one).isFine),
        `a changed byte of ${name} is seen by ${told}`,
      );
    }
    writeFileSync(file, bytes);
  }
  assert.ok(run(folder, sums).isFine);
}

/** Files that the commands themselves write. */
const MADE = ['publica.pem', 'assinante.pem', 'nota-sem-assinatura.xml'];

describe('the evidence of a note', { skip }, () => {
  let service: TestService;
  let palco: Palco;
  let post: (body: string, headers: Readonly<Record<string, string>>) => ReturnType<typeof request>;
  let dps: (patch?: Patch) => string;
  let sign: (xml: string) => string;
  let cms: (body: string) => string;
  let lote: () => Promise<string>;
  let hold: (chave: string) => Promise<string>;
  const archive = freshFolder();

  before(async () => {
    const [rootKeys, acKeys, keys] = await Promise.all([readyKeys(), readyKeys(), readyKeys()]);
    const root = rootAuthority('AC Raiz de Teste', rootKeys, DECADES);
    const ac = intermediateAuthority(root, 'AC Intermediária de Teste', acKeys, DECADES);
    const provider = partyOf(keys, companyCertificate(ac, companyOf(PROVIDER_CNPJ), keys.publicKey, DECADES));
    const month = { inicio: NOON - 10 * DAY_MS, fim: NOON + 20 * DAY_MS };
    const [ancoras, revogados] = [freshFolder(), freshFolder()];
    writeFileSync(path.join(ancoras, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
    writeFileSync(path.join(ancoras, 'ac.pem'), pemOf('CERTIFICATE', ac.certificate));
    for (const [name, by] of [
      ['raiz', root],
      ['ac', ac],
    ] as const) {
      writeFileSync(path.join(revogados, `${name}.crl`), pemOf('X509 CRL', revocationList(by, [], month)));
    }
    palco = await montarPalco(NOON);
    writeFileSync(path.join(ancoras, 'municipio.pem'), readFileSync(palco.clientes));
    const simulador = await simuladorAqui(palco);
    const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const transmissions = new Transmissions(quiet);
    onEnd(() => transmissions.close());
    service = await startTestService({ transmission: transmissions.of });
    const { store, pool, clock, address } = service;
    useArquivo(pool, archive);
    const chaves = { certificado: palco.municipio.certFile, chave: palco.municipio.keyFile };
    await store.municipios.create(
      {
        tenant: SLUG,
        ambiente: 'producao',
        codigoIbge: IBGE,
        regrasNacionais: 'avisa',
        confianca: { ancoras, revogados },
        adn: { url: simulador.address, ca: palco.caFile, chaves },
      },
      clock.now,
    );
    await addPrestador(pool, SLUG, PROVIDER_CNPJ);
    let last = 0;
    dps = (patch = {}) => {
      last += 1;
      const [serie, nDPS] = ['7', String(last)];
      const id = dpsIdOf({ cLocEmi: IBGE, documento: PROVIDER_CNPJ, serie, nDPS });
      return exampleXml({ tpAmb: '1', serie, nDPS, '@Id': id, ...patch });
    };
    sign = (xml) => signedBy(xml, provider);
    const certificado = lerCertificado({ certificado: provider.pem, chave: provider.keyPem });
    cms = (body) => assinarCms(Buffer.from(body), certificado);
    post = (body, headers) => request(address, `${API}/nfse/v101`, { method: 'POST', headers, body });
    lote = async () => {
      const { situacao, documento } = await sendLote(
        address,
        signedLot([{ numero: '1' }, { numero: '2' }], provider),
        SLUG,
      );
      assert.equal(situacao, '4', documento);
      return all(documento, 'CodigoVerificacao').length > 0 ? /Id="NFS(\d{50})"/.exec(documento)![1]! : '';
    };
    hold = async (chave) => await (await fetch(`${simulador.controle}/documentos/${chave}`)).text();
  });

  const XML = { 'Content-Type': 'application/xml' };

  async function issued(body: string, headers: Readonly<Record<string, string>> = XML): Promise<string> {
    const answer = await post(body, headers);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.chave_acesso;
  }

  const becomes = (chave: string, status: string) =>
    until(async () => {
      service.clock.now += 1_000;
      const { body } = await request(service.address, `${API}/nfse/${chave}`);
      return body.nota.status === status ? true : undefined;
    }, `${chave} is ${status}`);

  async function register(chave: string, evento: object): Promise<void> {
    const body = JSON.stringify({ ...evento, cnpj_autor: PROVIDER_CNPJ });
    const headers = { 'Content-Type': 'application/json', 'X-Evento-Assinatura': cms(body) };
    const answer = await request(service.address, `${API}/nfse/${chave}/eventos`, { method: 'POST', headers, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  }

  async function make(chave: string, slug = SLUG) {
    const world = { store: service.store, now: () => service.clock.now };
    const made = await makeEvidencia(world, slug, chave, { quem: 'maria', via: 'comando', motivo: 'processo 1' });
    if ('problem' in made) assert.fail(made.problem);
    assert.deepEqual(made.contradicoes, []);
    return extract(made.zip);
  }

  /** The municipality seals its chain the next day, and the proofs lead to the seal. */
  async function sealedLater(chave: string): Promise<void> {
    const later = { ...service.world, now: () => service.clock.now + DAY_MS };
    await sealDays(later);
    const { folder, comandos } = await make(chave);
    const audit = '6-trilha/auditoria';
    const seal = filesIn(folder).find((name) => /selo-[\d-]+\/selo\.json$/.test(name))!;
    has(folder, `${audit}/conferir.sh`, `${audit}/prova-001.txt`, seal.replace('.json', '.p7s'));
    const moves = JSON.parse(readFileSync(path.join(folder, '6-trilha/movimentos.json'), 'utf8')).length;
    const ofEvento = readFileSync(path.join(folder, '5-eventos/1-cancelamento_por_substituicao/trilha.json'), 'utf8');
    const movesOfEvento = JSON.parse(ofEvento).length;
    const proofs = filesIn(folder).filter((name) => /prova-\d+\.txt$/.test(name)).length;
    assert.equal(
      proofs,
      3 + moves + 2 + movesOfEvento,
      'the note, its state, its documents, each move, its event, the documents of that, and its moves',
    );
    const script = comandos.find(({ comando }) => comando.startsWith('sh 6-trilha/auditoria/conferir.sh'))!;
    for (const name of filesIn(folder).filter((one) => /(linha|prova)-00[12]\.txt$/.test(one))) {
      const file = path.join(folder, name);
      const bytes = readFileSync(file);
      const other = Buffer.from(bytes);
      other[20] = other[20]! ^ 1;
      writeFileSync(file, other);
      assert.ok(!run(folder, script).isFine, `the script sees that ${name} has changed`);
      writeFileSync(file, bytes);
    }
    const forged = readFileSync(path.join(folder, seal), 'utf8').replace(/"elo":"../, '"elo":"zz');
    writeFileSync(path.join(folder, seal), forged);
    assert.ok(!run(folder, script).isFine, 'the chain does not lead to another seal');
  }

  /** Rows after the last seal are proved without a seal; the page and the script both say so. */
  async function afterTheSeal(chave: string): Promise<void> {
    await register(chave, CANCELAMENTO);
    await becomes(chave, 'cancelada');
    const { folder, comandos } = await make(chave);
    const page = readFileSync(path.join(folder, 'LEIA-ME.txt'), 'utf8').replace(/\s+/g, ' ');
    const [, told = ''] = /De depois do último selo são as linhas ([\d, ]+):/.exec(page) ?? [];
    const script = comandos.find(({ comando }) => comando.includes('conferir.sh'))!;
    const lines = run(folder, script).out.split('\n');
    const unsealed = lines.flatMap((line) => /^prova-(\d+)\.txt: confere, ainda sem selo$/.exec(line)?.[1] ?? []);
    assert.deepEqual(told.split(', '), unsealed);
    assert.ok(unsealed.includes('002') && !unsealed.includes('001'), 'where it stands, and not what it was issued as');
    assert.ok(lines.includes('prova-001.txt: confere'));
  }

  const has = (folder: string, ...names: readonly string[]): void => {
    const files = filesIn(folder);
    for (const name of names) assert.ok(files.includes(name), `${name} is among ${files.join(', ')}`);
  };

  test('signed as XML and replaced: each command succeeds, and fails for a changed byte', async () => {
    const chave = await issued(sign(dps()));
    await becomes(chave, 'autorizada');
    const nova = await issued(sign(dps({ 'subst/chSubstda': chave, 'subst/cMotivo': '01' })));
    await register(chave, {
      tipo_evento: 'cancelamento_por_substituicao',
      codigo_motivo_cancelamento: '01',
      descricao_motivo_cancelamento: 'Valor do serviço informado com erro',
      chave_acesso_substituta: nova,
    });
    await becomes(chave, 'cancelada');
    await becomes(nova, 'autorizada');
    const { folder, comandos } = await make(chave);
    has(
      folder,
      ...['1-declaracao/declaracao.xml', '1-declaracao/autoridades.pem', '1-declaracao/listas.pem', '2-nota/nfse.xml'],
      ...[
        '5-eventos/1-cancelamento_por_substituicao/evento.xml',
        '5-eventos/substituicao.json',
        'SHA256SUMS.assinatura',
      ],
    );
    assert.equal(readFileSync(path.join(folder, '2-nota/nfse.xml'), 'utf8'), await hold(chave), 'as the ADN has it');
    const ties = comandos.flatMap(({ comando }) => /traz\.sh \S+ (\S+)$/.exec(comando)?.[1] ?? []);
    assert.deepEqual(ties.slice(0, 2), ['1-declaracao/declaracao.xml', 'nota-sem-assinatura.xml']);
    const [resposta, julgado, calculo] = [
      '4-adn/resposta-3-autorizacao.txt',
      '3-calculo/julgamento.txt',
      '3-calculo/calculo.json',
    ].map((name) => readFileSync(path.join(folder, name), 'utf8')) as [string, string, string];
    const [line, text] = resposta.split(/\n(.*)/s) as [string, string];
    assert.match(line, /^20\d \S+$/);
    const { Lote, ...others } = JSON.parse(text);
    assert.deepEqual([Lote.length, Lote[0].ChaveAcesso, Lote[0].Erros], [1, chave, []]);
    assert.ok('DataHoraProcessamento' in others, 'all of the answer, but for other notes');
    assert.equal(julgado.split('\n')[0], PROGRAMA);
    assert.equal(JSON.parse(calculo).versoes.programa_que_emitiu, PROGRAMA);
    assert.ok(!readFileSync(path.join(folder, '6-trilha/movimentos.json'), 'utf8').includes('ChaveAcesso'));
    assert.match(comandos.map(({ comando }) => comando).join('\n'), /-crl_check_all 1-declaracao\/signatario\.pem/);
    assert.match(readFileSync(path.join(folder, 'LEIA-ME.txt'), 'utf8'), /guardadas\s+então/);
    flipEach(folder, comandos);
    await sealedLater(chave);
    const atos = JSON.parse(readFileSync(path.join((await make(nova)).folder, '6-trilha/atos.json'), 'utf8'));
    assert.deepEqual(atos, [], 'what is done now is in the trail after it is done');
    const [ato] = await service.store.atos.list(SLUG, { objeto: 'nota', chave }, 9);
    assert.deepEqual([ato?.acao, ato?.quem, ato?.motivo], ['evidência extraída', 'maria', 'processo 1']);
    await afterTheSeal(nova);
  });

  test('signed as JSON and cancelled', async () => {
    const body = JSON.parse(exampleJson({ tpAmb: '1', serie: '8', nDPS: '1' })!);
    const text = JSON.stringify({ ...body, municipio_emissor: IBGE, tipo_ambiente: '1' });
    const chave = await issued(text, { 'Content-Type': 'application/json', 'X-DPS-Assinatura': cms(text) });
    await becomes(chave, 'autorizada');
    await register(chave, CANCELAMENTO);
    await becomes(chave, 'cancelada');
    const { folder, comandos } = await make(chave);
    has(
      folder,
      '1-declaracao/declaracao.json',
      '1-declaracao/declaracao.p7s',
      '5-eventos/1-cancelamento/pedido/pedido.p7s',
    );
    assert.equal(readFileSync(path.join(folder, '1-declaracao/declaracao.json'), 'utf8'), text);
    flipEach(folder, comandos);
  });

  test('of a lot of the legacy port', async () => {
    const chave = await lote();
    await becomes(chave, 'autorizada');
    const { folder, comandos } = await make(chave);
    has(folder, '1-declaracao/lote.xml', '1-declaracao/declaracao.xml');
    assert.doesNotMatch(readFileSync(path.join(folder, 'LEIA-ME.txt'), 'utf8'), /Sem prova ficou/);
    assert.ok(comandos.some(({ comando }) => comando.includes('[1]') && comando.endsWith('1-declaracao/lote.xml')));
    assert.ok(comandos.some(({ comando }) => /traz\.sh \S+ 1-declaracao\/lote\.xml$/.test(comando)));
  });

  test('once the lists are others, by those of then; and out of the archive', async () => {
    const chave = await issued(sign(dps()));
    const later = await issued(sign(dps()));
    await becomes(chave, 'autorizada');
    await becomes(later, 'autorizada');
    await register(chave, CANCELAMENTO);
    await becomes(chave, 'cancelada');
    const before = await make(chave);
    const stored = await service.pool.query('select 1 from fundamentos where tenant = $1', [SLUG]);
    assert.equal(stored.rowCount, 1, 'one for all notes');
    const lists = await service.pool.query('select 1 from listas_revogados where tenant = $1', [SLUG]);
    assert.equal(lists.rowCount, 2);
    // The second note is of the same lot.
    await until(async () => {
      service.clock.now += 1_000;
      return (await service.pool.query('select 1 from fila where tenant = $1', [SLUG])).rowCount === 0 || undefined;
    }, 'nothing is under way');
    const closing = { store: service.store, now: () => NOON + 100 * DAY_MS };
    const closed = await fecharMes(closing, '2026-11', () => undefined);
    assert.ok(!('problem' in closed), JSON.stringify(closed));
    assert.equal((await service.pool.query('select 1 from documentos')).rowCount, 0);
    damageFirst();
    const after = await make(chave);
    const linhas = filesIn(before.folder).filter((name) => /linha-\d+\.txt$/.test(name));
    const told = new Set(linhas.map((name) => readFileSync(path.join(before.folder, name), 'utf8').split('\n')[0]));
    const tables = ['documentos', 'documentos_eventos', 'eventos', 'notas', 'notas_estado', 'trilha_eventos'];
    assert.deepEqual([...told].toSorted(), [...tables, 'trilha_notas']);
    const same = ['1-declaracao/declaracao.xml', '1-declaracao/listas.pem', '2-nota/nfse.xml', ...linhas];
    has(after.folder, ...same);
    for (const name of same) {
      assert.deepEqual(readFileSync(path.join(after.folder, name)), readFileSync(path.join(before.folder, name)), name);
    }
    const ties = ({ comandos }: typeof after) => comandos.filter(({ comando }) => comando.includes('traz.sh'));
    assert.deepEqual(ties(after), ties(before));
    await register(later, CANCELAMENTO);
    await becomes(later, 'cancelada');
    const moved = await make(later);
    const where = filesIn(moved.folder).filter((name) => /linha-\d+\.txt$/.test(name));
    assert.equal(where.length, linhas.length, 'moves of the archive and those that came later');
  });

  test('changed by other means, says which row has no proof', async () => {
    const chave = await issued(sign(dps()));
    await becomes(chave, 'autorizada');
    const text = `update trilha_notas t set quem = 'outro' from notas n
      where n.tenant = $1 and n.chave_acesso = $2 and t.tenant = $1 and t.nota = n.id and t.movimento = 2`;
    assert.equal((await service.pool.query(text, [SLUG, chave])).rowCount, 1);
    const { folder } = await make(chave);
    const page = readFileSync(path.join(folder, 'LEIA-ME.txt'), 'utf8').replace(/\s+/g, ' ');
    assert.match(page, /Sem prova ficou, embora esteja neste conjunto: O movimento 2 da nota\. A corrente/);
    assert.equal(filesIn(folder).filter((name) => /linha-\d+\.txt$/.test(name)).length, 5);
  });

  /**
   * Damages the archive file in its first record, which is of the first note. The bundles of the other notes read only their own records.
   */
  function damageFirst(): void {
    const name = filesIn(archive).find((one) => one.endsWith('.nfse'))!;
    const file = path.join(archive, name);
    const bytes = readFileSync(file);
    const first = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1;
    bytes[first + 20] = bytes[first + 20]! ^ 1;
    writeFileSync(file, bytes);
  }

  test('without an answer of the ADN yet; of the sandbox, unsigned; and of nothing', async () => {
    await service.stopWorker();
    const chave = await issued(sign(dps()));
    const { folder, comandos } = await make(chave);
    assert.match(readFileSync(path.join(folder, 'LEIA-ME.txt'), 'utf8'), /Nada foi enviado ao ADN ainda/);
    assert.ok(comandos.some(({ comando }) => /traz\.sh \S+ 2-nota\/nfse\.xml$/.test(comando)));
    const sandbox = await request(service.address, '/integracao/api/v1/nfse/v101', {
      method: 'POST',
      headers: XML,
      body: exampleXml({ serie: '1', nDPS: '1' }),
    });
    assert.equal(sandbox.status, 201, JSON.stringify(sandbox.body));
    const ofSandbox = await make(sandbox.body.chave_acesso, 'integracao');
    assert.ok(ofSandbox.comandos.length <= 5, 'nothing but the digests and the audit chain to check');
    const world = { store: service.store, now: () => service.clock.now };
    const by = { quem: 'maria', via: 'comando' } as const;
    assert.ok('problem' in (await makeEvidencia(world, SLUG, '1', by)));
    assert.ok(
      'problem' in (await makeEvidencia(world, SLUG, sandbox.body.chave_acesso, by)),
      'of another municipality',
    );
  });
});

describe('the evidence of a note that was held for a rate', { skip }, () => {
  const LATER = '0.1.1 0badcafe5678';
  const HEAD = 'tributo,inicio,fim,aliquota,fonte,ato';
  const CBS_2027 = 'CBS,2027-01-01,2027-12-31,"8,80",DOU de 05/01/2027,Resolução do Senado 1/2027';
  const SANDBOX = 'integracao';

  test('names both programs: the one that issued it, and the one that reckoned what was missing, or refused it', async () => {
    const clock = { now: Date.parse('2027-01-01T00:00:05-03:00') };
    const { address, pool, store, world } = await startTestService({ clock, worker: false });
    const issue = async (patch: Patch): Promise<string> => {
      const { status, body } = await emit(address, exampleXml({ dCompet: '2027-01-01', ...patch }));
      assert.equal(status, 201, JSON.stringify(body));
      return body.chave_acesso;
    };
    const chave = await issue({ serie: '1', nDPS: '1' });
    const wrong = exampleJson({
      ...{ dCompet: '2027-01-01', '=ibscbs.total_cbs': '84.00', '=ibscbs.valores_aliquota_cbs': '8.57' },
      nDPS: '2',
    })!;
    const declared = await request(address, `/${SANDBOX}/api/v1/nfse/v101`, {
      ...{ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: wrong },
    });
    assert.equal(declared.status, 201, JSON.stringify(declared.body));
    const bundle = async (one: string) => {
      const made = await makeEvidencia({ store, now: () => clock.now }, SANDBOX, one, {
        quem: 'maria',
        via: 'comando',
      });
      if ('problem' in made) assert.fail(made.problem);
      assert.deepEqual(made.contradicoes, []);
      const { folder, comandos } = extract(made.zip);
      const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
      const page = read('LEIA-ME.txt').replace(/\s+/g, ' ');
      return { read, comandos, page, calculo: JSON.parse(read('3-calculo/calculo.json')) };
    };
    const waiting = await bundle(chave);
    assert.equal(waiting.calculo.versoes.programa_que_emitiu, PROGRAMA);
    assert.ok(!('programa_que_a_completou' in waiting.calculo.versoes));
    assert.match(waiting.page, /A nota foi retida: .* não chegou a ser julgada outra vez/);

    const file = path.join(freshFolder(), 'cbs.csv');
    writeFileSync(file, `${HEAD}\n${CBS_2027}\n`);
    const said = await nfseHere(['aliquotas', 'importar', file], pool, false, undefined, () => clock.now);
    assert.equal(said.code, 0, said.err);
    const municipio = (await store.municipios.readFresh(SANDBOX))!;
    const released = await until(async () => {
      return (await releaseNotas({ ...world, programa: LATER }, municipio)).delivered || undefined;
    }, 'the new table is seen');
    assert.equal(released, 2);

    const complete = await bundle(chave);
    const { versoes, recusa_pelo_calculo } = complete.calculo;
    assert.deepEqual(
      [versoes.programa_que_emitiu, versoes.programa_que_a_completou, versoes.tabela_de_aliquotas_ibs_cbs],
      [PROGRAMA, LATER, 2],
    );
    assert.equal(recusa_pelo_calculo, null);
    assert.equal(complete.read('3-calculo/julgamento-2.txt'), LATER);
    const tie = 'traz.sh 6-trilha/auditoria/linha-005.txt 3-calculo/julgamento-2.txt';
    assert.ok(complete.comandos.some(({ comando }) => comando.endsWith(tie)));
    assert.match(complete.page, /A nota foi retida, .* e julgada duas vezes/);
    assert.match(complete.page, /Nada foi enviado ao ADN ainda/);

    const refused = await bundle(declared.body.chave_acesso);
    assert.equal(refused.calculo.versoes.programa_que_a_completou, LATER);
    assert.match(refused.calculo.recusa_pelo_calculo, /E1582: .*declara 84\.00, e o calculado é 86\.24/);
    assert.equal(refused.calculo.recusa_do_adn, null, 'it was never asked');
  });
});
