/**
 * Every scenario of every persona, as XML and as JSON, on three days: issued by the service, authorised, its event processed, and the
 * amounts that its persona promises found on the note.
 *
 * The amounts were worked out by hand from the national layout of the NFS-e: each tax of its own, half up to the cent, once.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { xsdErrors } from '../src/documents/xml.ts';
import { cnpjIsValid, cpfIsValid } from '../src/fiscal/chave.ts';
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
} from '../src/fiscal/personas.ts';
import { tipoBySlug } from '../src/fiscal/tipos-evento.ts';
import { beginImport, confirmImport, openImportacoes } from '../src/flows/importar-arquivo.ts';
import { atOnce } from './support/at-once.ts';
import { nfseHere } from './support/cli.ts';
import { type Answer, request } from './support/http.ts';
import { freshFolder } from './support/openssl.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

const SLUG = 'ensaio-personas';
const XSD = readFileSync(path.resolve(import.meta.dirname, '../docs/nfse-1.01.xsd'), 'utf8');
const FORMATS = {
  XML: { type: 'application/xml', write: xmlDe },
  JSON: { type: 'application/json', write: jsonDe },
} as const;
type Format = keyof typeof FORMATS;

const NOVEMBER = Date.parse('2026-11-27T10:00:00-03:00');
const NEW_YEARS_EVE = Date.parse('2026-12-31T22:00:00-03:00');
const JANUARY = Date.parse('2027-01-04T09:00:00-03:00');

/** Rate of the CBS in 2027, which nobody has published: invented, as in the test of the turn of the year. */
const CBS_2027 = 'tributo,inicio,fim,aliquota,fonte,ato\nCBS,2027-01-01,2027-12-31,"8,80",Ensaio,Ensaio\n';

/** IBS of the state, IBS of the municipality, CBS. */
type IbsCbs = readonly [uf: string, mun: string, cbs: string];
type Esperado = {
  /** Of `valores`, in the order of the note. */
  readonly valores: string;
  readonly valores2027?: string;
  /** Undefined: the group is not due. */
  readonly em2026: IbsCbs | undefined;
  readonly em2027: IbsCbs;
};

const liquido = (vLiq: string): string => `vLiq ${vLiq}`;

const apurado = (vBC: string, pAliqAplic: string, vISSQN: string, vTotalRet: string, vLiq: string): string =>
  `vBC ${vBC} pAliqAplic ${pAliqAplic} vISSQN ${vISSQN} vTotalRet ${vTotalRet} vLiq ${vLiq}`;

const ZERO: IbsCbs = ['0.00', '0.00', '0.00'];
const SEM_IBSCBS = { em2026: ZERO, em2027: ZERO };

const ESPERADOS: Readonly<Record<string, Esperado>> = {
  'mei/consumidor': { valores: liquido('80.00'), em2026: undefined, em2027: ['0.04', '0.04', '7.04'] },
  'mei/empresa': { valores: liquido('400.00'), em2026: undefined, em2027: ['0.20', '0.20', '35.20'] },
  'mei/sem-tomador': { valores: liquido('45.00'), em2026: undefined, em2027: ['0.02', '0.02', '3.96'] },
  'mei/cancelada': { valores: liquido('60.00'), em2026: undefined, em2027: ['0.03', '0.03', '5.28'] },
  'simples-no-das/sem-retencao': {
    valores: liquido('1500.00'),
    em2026: undefined,
    em2027: ['0.75', '0.75', '132.00'],
  },
  // 2000.00 - 55.80 = 1944.20
  'simples-no-das/retido': {
    valores: apurado('2000.00', '2.79', '55.80', '55.80', '1944.20'),
    em2026: undefined,
    em2027: ['0.97', '0.97', '171.09'],
  },
  'simples-no-das/pessoa-fisica': {
    valores: liquido('320.00'),
    em2026: undefined,
    em2027: ['0.16', '0.16', '28.16'],
  },
  'simples-no-das/substituida': { valores: liquido('900.00'), em2026: undefined, em2027: ['0.45', '0.45', '79.20'] },
  'simples-por-fora/por-conta-propria': {
    valores: apurado('10000.00', '5.00', '500.00', '0.00', '10000.00'),
    em2026: undefined,
    em2027: ['4.75', '4.75', '836.00'],
  },
  'simples-por-fora/retido': {
    valores: apurado('3000.00', '5.00', '150.00', '150.00', '2850.00'),
    em2026: undefined,
    em2027: ['1.43', '1.43', '250.80'],
  },
  'simples-por-fora/rejeitada': {
    valores: apurado('1000.00', '5.00', '50.00', '0.00', '1000.00'),
    em2026: undefined,
    em2027: ['0.48', '0.48', '83.60'],
  },
  // 10000.00 - 500.00 - 65.00 - 300.00 = 9135.00; in 2027 10000.00 - 500.00
  'regime-geral/tudo-retido': {
    valores: apurado('10000.00', '5.00', '500.00', '2165.00', '7835.00'),
    valores2027: apurado('10000.00', '5.00', '500.00', '1800.00', '8200.00'),
    em2026: ['9.14', '0.00', '82.22'],
    em2027: ['4.75', '4.75', '836.00'],
  },
  'regime-geral/pessoa-fisica': {
    valores: apurado('500.00', '5.00', '25.00', '0.00', '500.00'),
    em2026: ['0.48', '0.00', '4.28'],
    em2027: ['0.24', '0.24', '41.80'],
  },
  'regime-geral/intermediario': {
    valores: apurado('2000.00', '5.00', '100.00', '100.00', '1900.00'),
    em2026: ['1.90', '0.00', '17.10'],
    em2027: ['0.95', '0.95', '167.20'],
  },
  'regime-geral/outro-municipio': {
    valores: apurado('4000.00', '5.00', '200.00', '200.00', '3800.00'),
    em2026: ['3.80', '0.00', '34.20'],
    em2027: ['1.90', '1.90', '334.40'],
  },
  'regime-geral/analise-fiscal': {
    valores: apurado('1200.00', '5.00', '60.00', '0.00', '1200.00'),
    em2026: ['1.14', '0.00', '10.26'],
    em2027: ['0.57', '0.57', '100.32'],
  },
  'imune/mensalidade': { valores: liquido('1200.00'), ...SEM_IBSCBS },
  'imune/convenio': { valores: liquido('8000.00'), ...SEM_IBSCBS },
  'imune/cancelada': { valores: liquido('600.00'), ...SEM_IBSCBS },
  // 60 % less: 0.04, 0.36; in 2027 0.02, 0.02, 3.52
  'pessoa-fisica/consulta': {
    valores: apurado('250.00', '2.00', '5.00', '0.00', '250.00'),
    em2026: ['0.10', '0.00', '0.88'],
    em2027: ['0.05', '0.05', '8.62'],
  },
  'pessoa-fisica/empresa-retem': {
    valores: apurado('3000.00', '2.00', '60.00', '60.00', '2940.00'),
    em2026: ['1.18', '0.00', '10.58'],
    em2027: ['0.59', '0.59', '103.49'],
  },
  'pessoa-fisica/autonoma': {
    valores: liquido('250.00'),
    em2026: ['0.10', '0.00', '0.90'],
    em2027: ['0.05', '0.05', '8.80'],
  },
  'pessoa-fisica/sem-tomador': {
    valores: apurado('180.00', '2.00', '3.60', '0.00', '180.00'),
    em2026: ['0.07', '0.00', '0.64'],
    em2027: ['0.04', '0.04', '6.21'],
  },
  'cnpj-alfanumerico/desenvolvimento': {
    valores: apurado('5000.00', '2.00', '100.00', '0.00', '5000.00'),
    em2026: ['4.90', '0.00', '44.10'],
    em2027: ['2.45', '2.45', '431.20'],
  },
  // From 01/12/2026 on.
  'cnpj-alfanumerico/licenca': {
    valores: apurado('700.00', '2.00', '14.00', '0.00', '700.00'),
    em2026: ['0.69', '0.00', '6.17'],
    em2027: ['0.34', '0.34', '60.37'],
  },
  'cnpj-alfanumerico/tomador-alfanumerico': {
    valores: apurado('1500.00', '2.00', '30.00', '0.00', '1500.00'),
    em2026: ['1.47', '0.00', '13.23'],
    em2027: ['0.74', '0.74', '129.36'],
  },
  'cnpj-alfanumerico/cancelada': {
    valores: apurado('250.00', '2.00', '5.00', '0.00', '250.00'),
    em2026: ['0.25', '0.00', '2.21'],
    em2027: ['0.12', '0.12', '21.56'],
  },
  // 50 % less: 0.05, 0.45; in 2027 0.025 (shown as 0.03), and 4.40
  'obra/cno': {
    valores: apurado('50000.00', '5.00', '2500.00', '8000.00', '42000.00'),
    em2026: ['23.75', '0.00', '213.75'],
    em2027: ['11.88', '11.88', '2090.00'],
  },
  'obra/materiais': {
    valores: `vCalcDR 20000.00 ${apurado('30000.00', '5.00', '1500.00', '0.00', '50000.00')}`,
    em2026: ['24.25', '0.00', '218.25'],
    em2027: ['12.13', '12.13', '2134.00'],
  },
  'obra/pessoa-fisica': {
    valores: apurado('12000.00', '5.00', '600.00', '0.00', '12000.00'),
    em2026: ['5.70', '0.00', '51.30'],
    em2027: ['2.85', '2.85', '501.60'],
  },
  'evento/no-endereco': {
    valores: apurado('20000.00', '5.00', '1000.00', '1000.00', '19000.00'),
    em2026: ['7.60', '0.00', '68.40'],
    em2027: ['3.80', '3.80', '668.80'],
  },
  'evento/pelo-codigo': {
    valores: apurado('3000.00', '5.00', '150.00', '0.00', '3000.00'),
    em2026: ['1.14', '0.00', '10.26'],
    em2027: ['0.57', '0.57', '100.32'],
  },
  'evento/cancelada': {
    valores: apurado('2500.00', '5.00', '125.00', '0.00', '2500.00'),
    em2026: ['0.95', '0.00', '8.55'],
    em2027: ['0.48', '0.48', '83.60'],
  },
  'exportacao/resultado-no-exterior': { valores: liquido('10000.00'), ...SEM_IBSCBS },
  'exportacao/prestado-no-exterior': { valores: liquido('7500.50'), ...SEM_IBSCBS },
  'exportacao/sem-nif': { valores: liquido('3000.00'), ...SEM_IBSCBS },
  'beneficio/reducao-percentual': {
    valores: `tpBM 2 vCalcBM 500.00 ${apurado('500.00', '5.00', '25.00', '0.00', '1000.00')}`,
    em2026: ['0.98', '0.00', '8.78'],
    em2027: ['0.49', '0.49', '85.80'],
  },
  'beneficio/reducao-em-reais': {
    valores: `tpBM 3 ${apurado('800.00', '5.00', '40.00', '40.00', '960.00')}`,
    em2026: ['0.96', '0.00', '8.64'],
    em2027: ['0.48', '0.48', '84.48'],
  },
  'beneficio/aliquota-diferenciada': {
    valores: `tpBM 4 ${apurado('1000.00', '2.00', '20.00', '0.00', '1000.00')}`,
    em2026: ['0.98', '0.00', '8.82'],
    em2027: ['0.49', '0.49', '86.24'],
  },
  'beneficio/isencao': {
    valores: `tpBM 1 vCalcBM 2000.00 ${apurado('0.00', '5.00', '0.00', '0.00', '2000.00')}`,
    em2026: ['1.00', '0.00', '9.00'],
    em2027: ['0.50', '0.50', '88.00'],
  },
};

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

let service: TestService;

/** The registers come in as somebody at the console brings them. */
before(async () => {
  service = await startTestService({ clock: { now: NOVEMBER } });
  const settings = ['--ibge', MUNICIPIO_DAS_PERSONAS, '--ambiente', 'homologacao', '--sem-exigir-numero'];
  const made = await nfseHere(['municipio', 'criar', SLUG, ...settings], service.pool);
  assert.equal(made.code, 0, made.err);
  const importacoes = openImportacoes(service.world);
  for (const registro of REGISTROS_DAS_PERSONAS) {
    const world = { ...service.world, importacoes };
    const file = { nome: `${registro}.csv`, conteudo: Buffer.from(csvDe(registro)) };
    const one = (await beginImport(world, SLUG, 'teste', registro, file))!;
    await until(async () => (one.isRunning ? undefined : one), `${registro} is looked at`);
    assert.deepEqual(one.data.previa?.primeiras, [], JSON.stringify(one.data));
    confirmImport(world, one, false, { quem: 'teste', via: 'painel' });
    await until(async () => (one.isRunning ? undefined : one), `${registro} is written`);
    assert.equal(one.data.problema, undefined);
    const lines = csvDe(registro).trim().split('\n').length - 1;
    assert.equal(one.data.feito?.counts?.[0]?.novos, lines, JSON.stringify(one.data.feito));
  }
});

/** All of them, and what failed of any. */
async function each<Item>(items: Iterable<Item>, work: (item: Item) => Promise<unknown>): Promise<void> {
  const failed: string[] = [];
  await atOnce(items, async (item) => {
    await work(item).catch((error: Error) => failed.push(error.message));
  });
  assert.equal(failed.length, 0, failed.join('\n\n'));
}

function post(where: string, type: string, body: string): Promise<Answer> {
  const init = { method: 'POST', headers: { 'Content-Type': type }, body };
  return request(service.address, `/${SLUG}/api/v1/nfse/${where}`, init);
}

const look = (where: string): Promise<Answer> => request(service.address, `/${SLUG}/api/v1/nfse/${where}`);

/** Issued, with the remarks that were told beforehand and no other; the key. */
async function issue({ nome, format }: Caso, cenario: Cenario, more: readonly string[] = []): Promise<string> {
  const { type, write } = FORMATS[format];
  const document = write(cenario, service.clock.now);
  const answer = await post('v101', type, document);
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

/** What happens to a note after it was issued. */
async function follow(caso: Caso, chave: string): Promise<void> {
  const { cenario, nome } = caso;
  checkAmounts(caso, await noteIn('autorizada', chave, nome));
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
  if (substituta !== undefined) checkAmounts(caso, await noteIn('autorizada', substituta, nome));
}

describe('every scenario, as XML and as JSON, is accepted, authorised and has its event', () => {
  test('each has its amounts here', () => {
    assert.deepEqual([...new Set(CASOS.map(({ nome }) => nome))], Object.keys(ESPERADOS));
  });

  for (const [day, at] of [
    ['27/11/2026', NOVEMBER],
    ['31/12/2026', NEW_YEARS_EVE],
  ] as const) {
    test(`on ${day}`, async () => {
      service.clock.now = at;
      await each(CASOS, async (caso) => follow(caso, await issue(caso, caso.cenario)));
    });
  }

  test('on 04/01/2027: what needs the CBS that nobody has published is held, and goes when it is', async () => {
    service.clock.now = JANUARY;
    const keys = new Map<Caso, string>();
    const isHeld = ({ nome }: Caso): boolean => ESPERADOS[nome]!.em2027 !== ZERO;
    await each(CASOS, async (caso) => {
      keys.set(caso, await issue(caso, caso.cenario, isHeld(caso) ? ['E1515'] : []));
    });
    const file = path.join(freshFolder(), 'cbs.csv');
    writeFileSync(file, CBS_2027);
    const args = ['aliquotas', 'importar', file];
    const said = await nfseHere(args, service.pool, false, undefined, () => service.clock.now);
    assert.equal(said.code, 0, said.err);
    await each(keys, ([caso, chave]) => follow(caso, chave));
  });

  test('and afterwards without a remark on the rate', async () => {
    await each(CASOS, async (caso) => void (await issue(caso, caso.cenario)));
  });
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
      assert.ok(historia.split(/\. |: /).length <= 5, historia);
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
