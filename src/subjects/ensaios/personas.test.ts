/**
 * Every scenario of every persona, as XML and as JSON, on three days. The service issues and authorises each note and processes its event;
 * the amounts are those that the persona promises.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { atOnce } from '../../../test/support/at-once.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { type Answer, request } from '../../../test/support/http.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { ESPERADOS, type IbsCbs, ZERO } from '../../../test/support/personas.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { xsdErrors } from '../../documents/xml.ts';
import { cnpjIsValid, cpfIsValid } from '../../fiscal/chave.ts';
import {
  type Cenario,
  csvDe,
  eventoDe,
  jsonDe,
  MUNICIPIO_DAS_PERSONAS,
  PERSONAS,
  type Persona,
  REGISTROS_DAS_PERSONAS,
  substitutaDe,
  xmlDe,
} from '../../fiscal/personas.ts';
import { tipoBySlug } from '../../fiscal/tipos-evento.ts';
import { beginImport, confirmImport, openImportacoes } from '../cadastros/importar-arquivo.ts';

const SLUG = 'ensaio-personas';
const XSD = readFileSync(path.resolve(import.meta.dirname, '../../../docs/nfse-1.01.xsd'), 'utf8');
const FORMATS = {
  XML: { type: 'application/xml', write: xmlDe },
  JSON: { type: 'application/json', write: jsonDe },
} as const;
type Format = keyof typeof FORMATS;

const NOVEMBER = Date.parse('2026-11-27T10:00:00-03:00');
const NEW_YEARS_EVE = Date.parse('2026-12-31T22:00:00-03:00');
const JANUARY = Date.parse('2027-01-04T09:00:00-03:00');

/** The CBS rate of 2027 is not published: this one is invented, as in the test of the turn of the year. */
const CBS_2027 = 'tributo,inicio,fim,aliquota,fonte,ato\nCBS,2027-01-01,2027-12-31,"8,80",Ensaio,Ensaio\n';

type Caso = { readonly nome: string; readonly persona: Persona; readonly cenario: Cenario; readonly format: Format };

const CASOS: readonly Caso[] = PERSONAS.flatMap((persona) =>
  persona.cenarios.flatMap((cenario) =>
    (Object.keys(FORMATS) as Format[]).map((format) => ({
      nome: `${persona.id}/${cenario.id}`,
      persona,
      cenario,
      format,
    })),
  ),
);

function ibsCbsOf(nome: string, at: number): IbsCbs | undefined {
  if (at >= JANUARY) return ESPERADOS[nome]!.em2027;
  return nome === 'cnpj-alfanumerico/licenca' && at < NEW_YEARS_EVE ? undefined : ESPERADOS[nome]!.em2026;
}

/** Remarks on a competence of 2027 whose CBS is not published. */
const remarksOnRates = ({ nome }: Caso): readonly string[] => (ESPERADOS[nome]!.em2027 === ZERO ? [] : ['E1515']);

let service: TestService;
/** The authorised notes of each scenario. */
const notes = new Map<string, string[]>();

before(async () => {
  service = await startTestService({ clock: { now: NOVEMBER } });
  await openTown(service);
});

/** A sandbox of its own, with `settings`. */
async function openTown(town: TestService, settings: readonly string[] = []): Promise<void> {
  const always = ['--ibge', MUNICIPIO_DAS_PERSONAS, '--ambiente', 'homologacao', '--sem-exigir-numero'];
  const made = await nfseHere(['municipio', 'criar', SLUG, ...always, ...settings], town.pool);
  assert.equal(made.code, 0, made.err);
  await importAll(town);
}

/** Imports the registers as an operator does at the terminal. */
async function importAll({ world: base }: TestService): Promise<void> {
  const world = { ...base, importacoes: openImportacoes(base) };
  for (const registro of REGISTROS_DAS_PERSONAS) {
    const file = { nome: `${registro}.csv`, conteudo: Buffer.from(csvDe(registro)) };
    const one = (await beginImport(world, SLUG, 'teste', registro, file))!;
    await until(async () => (one.isRunning ? undefined : one), `${registro} is looked at`);
    assert.deepEqual(one.data.previa?.primeiras, [], JSON.stringify(one.data));
    confirmImport(world, one, false, { quem: 'teste', via: 'painel' });
    await until(async () => (one.isRunning ? undefined : one), `${registro} is written`);
    const lines = csvDe(registro).trim().split('\n').length - 1;
    assert.equal(one.data.feito?.counts?.[0]?.novos, lines, JSON.stringify(one.data.feito));
  }
}

/** Does the work for all items, and fails with all their failures. */
async function each<Item>(items: Iterable<Item>, work: (item: Item) => Promise<unknown>): Promise<void> {
  const failed: string[] = [];
  await atOnce(items, async (item) => {
    await work(item).catch((error: Error) => failed.push(error.message));
  });
  assert.equal(failed.length, 0, failed.join('\n\n'));
}

function post(where: string, type: string, body: string, { address }: TestService = service): Promise<Answer> {
  const init = { method: 'POST', headers: { 'Content-Type': type }, body };
  return request(address, `/${SLUG}/api/v1/nfse/${where}`, init);
}

const look = (where: string): Promise<Answer> => request(service.address, `/${SLUG}/api/v1/nfse/${where}`);

/** Issues a note, whose remarks are exactly the announced ones; returns its key. */
async function issue(
  { nome, format }: Caso,
  cenario: Cenario,
  more: readonly string[] = [],
  where: TestService = service,
): Promise<string> {
  const { type, write } = FORMATS[format];
  const answer = await post('v101', type, write(cenario, where.clock.now), where);
  const told = `${nome} ${format}: ${JSON.stringify(answer.body.erros ?? answer.body.avisos)}`;
  assert.equal(answer.status, 201, told);
  const codes = answer.body.avisos.map(({ codigo }: { codigo: string }) => codigo);
  assert.deepEqual(codes.toSorted(), [...cenario.avisos, ...more].toSorted(), told);
  return answer.body.chave_acesso;
}

async function noteIn(status: string, chave: string, nome: string): Promise<string> {
  const { body } = await until(async () => {
    const answer = await look(chave);
    return answer.body.nota?.status === status ? answer : undefined;
  }, `${nome} is ${status}`);
  return body.nota.xml_nota;
}

const SHOWN = ['vCalcDR', 'tpBM', 'vCalcBM', 'vBC', 'pAliqAplic', 'vISSQN', 'vTotalRet', 'vLiq'];

function textOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
}

function checkAmounts({ nome }: Caso, xml: string): void {
  assert.deepEqual(xsdErrors(XSD, Buffer.from(xml)), [], nome);
  const own = xml.slice(0, xml.indexOf('<DPS'));
  const values = /<valores>.*?<\/valores>/s.exec(own)![0];
  const shown = SHOWN.flatMap((name) => {
    const text = textOf(values, name);
    return text === undefined ? [] : [`${name} ${text}`];
  });
  const { valores, valores2027 = valores } = ESPERADOS[nome]!;
  const at = service.clock.now;
  assert.equal(shown.join(' '), at < JANUARY ? valores : valores2027, nome);
  const group = /<IBSCBS>.*<\/IBSCBS>/s.exec(own)?.[0];
  const found = group && ['vIBSUF', 'vIBSMun', 'vCBS'].map((name) => textOf(group, name));
  assert.deepEqual(found, ibsCbsOf(nome, at), `${nome} ${group}`);
}

/** Checks a note after its issue, with its event. */
async function follow(caso: Caso, chave: string): Promise<void> {
  const { cenario, nome } = caso;
  const xml = await noteIn('autorizada', chave, nome);
  checkAmounts(caso, xml);
  notes.set(nome, [...(notes.get(nome) ?? []), xml]);
  if (cenario.evento === undefined) return;
  const other = substitutaDe(cenario, chave);
  const substituta = other && (await issue(caso, other));
  const answer = await post(`${chave}/eventos`, 'application/json', eventoDe(cenario, { nota: chave, substituta })!);
  assert.equal(answer.status, 201, `${nome}: ${JSON.stringify(answer.body)}`);
  await until(async () => {
    const { body } = await look(`${chave}/eventos`);
    return body.eventos[0]?.status_evento === 'processado' || undefined;
  }, `the event of ${nome}`);
  const { cancela } = tipoBySlug(cenario.evento.tipo)!;
  await noteIn(cancela ? 'cancelada' : 'autorizada', chave, nome);
  if (substituta === undefined) return;
  // A worker that held the note during the event looks again a second later.
  await until(async () => {
    service.clock.now += 1_000;
    return (await look(substituta)).body.nota.status === 'autorizada' || undefined;
  }, `what replaces ${nome} is autorizada`);
  checkAmounts(caso, (await look(substituta)).body.nota.xml_nota);
}

test('each has its amounts here', () => {
  assert.deepEqual([...new Set(CASOS.map(({ nome }) => nome))], Object.keys(ESPERADOS));
});

test('every scenario, as XML and as JSON, is accepted, authorised and has its event', async (t) => {
  for (const [day, at] of [
    ['27/11/2026', NOVEMBER],
    ['31/12/2026', NEW_YEARS_EVE],
  ] as const) {
    await t.test(`on ${day}`, async () => {
      service.clock.now = at;
      await each(CASOS, async (caso) => follow(caso, await issue(caso, caso.cenario)));
    });
  }

  await t.test('on 04/01/2027: what needs the CBS that nobody has published is held, and goes when it is', async () => {
    service.clock.now = JANUARY;
    const keys = new Map<Caso, string>();
    await each(CASOS, async (caso) => {
      keys.set(caso, await issue(caso, caso.cenario, remarksOnRates(caso)));
    });
    const file = path.join(freshFolder(), 'cbs.csv');
    writeFileSync(file, CBS_2027);
    const args = ['aliquotas', 'importar', file];
    const said = await nfseHere(args, service.pool, false, undefined, () => service.clock.now);
    assert.equal(said.code, 0, said.err);
    await each(keys, ([caso, chave]) => follow(caso, chave));
  });

  await t.test('and afterwards without a remark on the rate', async () => {
    await each(CASOS, async (caso) => void (await issue(caso, caso.cenario)));
  });

  const own = (nome: string): readonly string[] => notes.get(nome)!.map((xml) => xml.slice(0, xml.indexOf('<DPS')));

  await t.test('every amount that the text of a scenario names stands on one of its notes', () => {
    for (const { nome, cenario } of CASOS) {
      const amounts = cenario.explica.matchAll(/\d[\d.]*,\d\d/g);
      const on = notes.get(nome)!.join('');
      for (const [amount] of amounts) {
        const text = amount.replaceAll('.', '').replace(',', '.');
        assert.ok(on.includes(`>${text}<`), `${nome}: ${amount}`);
      }
    }
  });

  await t.test('where the ISSQN is due, who is on the note, and the letters of its key', () => {
    for (const xml of own('regime-geral/outro-municipio')) assert.equal(textOf(xml, 'cLocIncid'), '3304557');
    for (const xml of own('exportacao/resultado-no-exterior')) assert.equal(textOf(xml, 'cLocIncid'), undefined);
    for (const xml of own('cnpj-alfanumerico/desenvolvimento')) {
      assert.match(xml, /Id="NFS.{9}EXMPL026000164.{27}"/);
    }
    for (const xml of own('pessoa-fisica/consulta')) assert.match(xml, /Id="NFS.{8}100011144477735.{27}"/);
    for (const xml of notes.get('mei/sem-tomador')!) assert.doesNotMatch(xml, /<toma>/);
    for (const xml of notes.get('regime-geral/intermediario')!) assert.match(xml, /<interm>/);
  });

  await t.test('PIS and COFINS are on notes of 2026 alone', () => {
    const withDebits = notes.get('regime-geral/tudo-retido')!.map((xml) => xml.includes('<piscofins>'));
    assert.deepEqual(withDebits, [true, true, true, true, false, false]);
  });
});

test('on each side of every date of the schedule, also where national rules refuse', async () => {
  const rigorous = await startTestService({ clock: { now: NOVEMBER }, worker: false });
  await openTown(rigorous, ['--regras-nacionais', 'recusar']);
  for (const moment of [
    '2026-09-30T23:59:59',
    '2026-10-01T00:00:00',
    '2026-11-30T23:59:59',
    '2026-12-01T00:00:00',
    '2026-12-31T23:59:59',
    '2027-01-01T00:00:00',
  ]) {
    rigorous.clock.now = Date.parse(`${moment}-03:00`);
    const isEarly = moment < '2026-11-01';
    await each(CASOS, async (caso) => {
      const { cenario, persona } = caso;
      // ME and EPP also issued here until October.
      const avisos = isEarly && persona.id !== 'mei' ? [] : cenario.avisos;
      await issue(caso, { ...cenario, avisos }, moment < '2027' ? [] : remarksOnRates(caso), rigorous);
    });
  }
});

test('in a sandbox that is every municipality’s, as the shared one', async () => {
  const shared = await startTestService({ clock: { now: NOVEMBER }, worker: false });
  await shared.store.municipios.create({ tenant: SLUG, ambiente: 'homologacao', codigoIbge: undefined }, NOVEMBER);
  await importAll(shared);
  await each(CASOS, (caso) => issue(caso, caso.cenario, [], shared));
});

describe('the personas', () => {
  test('have documents of their own, valid and of different roots', () => {
    const documents = PERSONAS.map(({ prestador }) => prestador.documento);
    for (const one of documents) assert.ok(one.length === 11 ? cpfIsValid(one) : cnpjIsValid(one), one);
    const takers = PERSONAS.flatMap(({ cenarios }) =>
      cenarios.flatMap(({ dps }) => [dps['toma/CNPJ'], dps['toma/CPF'], dps['interm/CNPJ']]),
    ).filter((one) => one != null);
    for (const one of takers) assert.ok(one.length === 11 ? cpfIsValid(one) : cnpjIsValid(one), one);
    const rootOf = (one: string): string => (one.length === 11 ? one : one.slice(0, 8));
    assert.equal(new Set(documents.map(rootOf)).size, documents.length);
    const roots = new Set(documents.map(rootOf));
    for (const one of takers) assert.ok(!roots.has(rootOf(one)), `${one} is a provider and a party`);
  });

  test('have names in kebab case, each once, and stories of at most three sentences', () => {
    const ids = PERSONAS.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const { id, historia, cenarios } of PERSONAS) {
      const own = cenarios.map((cenario) => cenario.id);
      assert.equal(new Set(own).size, own.length, id);
      assert.ok(own.length >= 3, id);
      for (const one of [id, ...own]) assert.match(one, /^[a-z]+(?:-[a-z]+)*$/);
      const sentencesOf = (text: string): number => text.split(/[.](?:\s|$)/).filter(Boolean).length;
      assert.ok([2, 3].includes(sentencesOf(historia)), historia);
      for (const { explica } of cenarios) assert.ok(sentencesOf(explica) <= 2, explica);
    }
  });

  test('say what their documents depend on: the same moment gives the same text', () => {
    for (const { cenario, format } of CASOS) {
      const { write } = FORMATS[format];
      assert.equal(write(cenario, JANUARY), write(cenario, JANUARY));
      assert.match(write(cenario, NEW_YEARS_EVE), /2026-12-31/);
    }
  });
});
