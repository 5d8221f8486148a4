/**
 * The registers of a municipality besides its services, from the file to the note. The files of `examples/`, the rules that then run, and
 * the amounts of the layout (NFS-e 1.01, `valores/tpBM`) are tested. A municipality without a register needs nothing and changes nothing.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { cellsOf } from '../../../test/support/csv.ts';
import { type Answer, request } from '../../../test/support/http.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import type { Said } from '../../../test/support/process.ts';
import { loteXml, sendLote } from '../../../test/support/rps.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { xsdErrors } from '../../documents/xml.ts';
import { exampleJson, exampleXml } from '../../fiscal/rules/example.ts';
import { EXAMPLE_CADASTROS } from '../../fiscal/rules/example-cadastros.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';
import { ALL_RULES } from '../../fiscal/rules/rules.ts';
import { isJsonOnly } from '../../fiscal/rules/trial.ts';
import { createStore } from '../../wiring/store.ts';

const folder = freshFolder();
const example = (name: string): string => path.resolve(import.meta.dirname, '../../../examples', name);
const XSD = readFileSync(path.resolve(import.meta.dirname, '../../../docs/nfse-1.01.xsd'), 'utf8');

/** Each register by the first word of its commands, and its example. */
/** The header of a model, with the commas of the lines that stand here. */
function headerOf(name: string): string {
  const [header] = readFileSync(example(name), 'utf8').split('\r\n');
  return header!.replaceAll(';', ',').replace('\ufeff', '');
}

const FILES = {
  beneficios: 'beneficios.csv',
  deducoes: 'deducoes.csv',
  regimes: 'regimes.csv',
  'nao-incidencias': 'nao-incidencias.csv',
} as const;
type What = keyof typeof FILES;

let service: TestService;
let opened = 0;

before(async () => {
  service = await startTestService();
  await town('cadastrado');
  for (const [what, name] of Object.entries(FILES))
    await done([what, 'importar', example(name), '--municipio', 'cadastrado', '--confirmar']);
});

const run = (args: readonly string[]): Promise<Said> => nfseHere(args, service.pool);

async function done(args: readonly string[]): Promise<string> {
  const { code, out, err } = await run(args);
  assert.equal(code, 0, out + err);
  return out;
}

/** A rehearsal of São Paulo in which national rules refuse as in production, and a DPS needs no number. */
async function town(slug = `alfa${++opened}`): Promise<string> {
  const settings = ['--ibge', '3550308', '--ambiente', 'homologacao', '--regras-nacionais', 'recusar'];
  await done(['municipio', 'criar', slug, ...settings, '--sem-exigir-numero']);
  return slug;
}

function send(slug: string, body: string, where = ''): Promise<Answer> {
  const type = body.startsWith('<') ? 'application/xml' : 'application/json';
  const init = { method: 'POST', headers: { 'Content-Type': type }, body };
  return request(service.address, `/${slug}/api/v1/nfse/v101${where}`, init);
}

const codesOf = ({ body }: Answer): readonly string[] =>
  [...new Set<string>((body.erros ?? []).map(({ codigo }: { codigo: string }) => codigo))].toSorted();

/** The NFS-e as it is stored. */
async function nfseOf(slug: string, chave: string): Promise<string> {
  const { rows } = await service.pool.query<{ nfse: Buffer }>(
    'select nfse from documentos d join notas n on n.tenant = d.tenant and n.id = d.nota where d.tenant = $1 and n.chave_acesso = $2',
    [slug, chave],
  );
  return rows[0]!.nfse.toString();
}

/** The values of the ISSQN on a note, without the XML around them. */
async function valuesOn(slug: string, patch: Patch): Promise<string> {
  const issued = await send(slug, exampleXml(patch));
  assert.equal(issued.status, 201, JSON.stringify(issued.body));
  const xml = await nfseOf(slug, issued.body.chave_acesso);
  assert.deepEqual(xsdErrors(XSD, Buffer.from(xml)), []);
  const [values = ''] = /<valores>(?:<(?:vCalc|tpBM|vBC|pAliqAplic|vISSQN|vTotalRet|vLiq).*?)<\/valores>/.exec(xml)!;
  return values
    .replaceAll(/<\/?valores>|<\/\w+>/g, '')
    .replaceAll('<', ' ')
    .replaceAll('>', ' ')
    .trim();
}

const RULES = ALL_RULES.filter(({ given }) => given !== undefined);

describe('each example of a rule with a register', () => {
  for (const [name, write] of [
    ['XML', (patch: Patch) => (isJsonOnly(patch) ? undefined : exampleXml(patch))],
    ['JSON', (patch: Patch) => exampleJson(patch)],
  ] as const) {
    test(`${name}: is refused with its code and no other, or issued`, async () => {
      let sent = 0;
      for (const { code, rejects, accepts, also = [] } of RULES) {
        for (const [patches, wanted] of [
          [rejects, [code, ...also]],
          [accepts, []],
        ] as const) {
          for (const patch of patches) {
            const document = write(patch);
            if (document === undefined) continue;
            const answer = await send('cadastrado', document);
            const told = `${code} ${JSON.stringify(patch)} got ${JSON.stringify(answer.body)}`;
            assert.deepEqual(codesOf(answer), wanted.toSorted(), told);
            assert.equal(answer.status, wanted.length > 0 ? 422 : 201, told);
            sent += 1;
          }
        }
      }
      assert.ok(sent > 20, `${sent}`);
    });
  }

  test('is issued as before by a municipality that keeps no register', async () => {
    const slug = await town();
    const invented = { 'valores/trib/tribMun/BM/nBM': '35503080499999', 'valores/trib/tribMun/BM/pRedBCBM': '50.00' };
    // 1000.00 - 50 % = 500.00; x 5 % = 25.00
    assert.equal(
      await valuesOn(slug, { ...invented, 'valores/trib/tribMun/pAliq': '5.00' }),
      'vCalcBM 500.00 vBC 500.00 pAliqAplic 5.00 vISSQN 25.00 vTotalRet 0.00 vLiq 1000.00',
    );
  });
});

test('the registers of the examples are the files of examples/', async () => {
  const store = createStore(service.pool);
  const { beneficios, deducoes, regimes, naoIncidencias } = EXAMPLE_CADASTROS;
  const read = async (nBM: string | undefined, cTribNac: string, documento: string, regime: string) =>
    store.cadastros.find('cadastrado', { nBM, operacao: { cTribNac, documento, regime, deduz: true } });
  for (const { numero } of beneficios!) {
    const wanted = beneficios!.filter((one) => one.numero === numero);
    assert.deepEqual((await read(numero, '010101', '', '0')).beneficios, wanted);
  }
  for (const { cTribNac } of deducoes!) {
    const wanted = deducoes!.filter((one) => one.cTribNac === cTribNac);
    assert.deepEqual((await read(undefined, cTribNac, '', '0')).deducoes, wanted);
  }
  for (const linha of regimes!.linhas) {
    const found = (await read(undefined, '010101', linha.documento, linha.regime)).regimes!;
    assert.deepEqual(found.admitidos, regimes!.admitidos);
    assert.deepEqual(found.linhas.at(-1), linha);
  }
  for (const linha of naoIncidencias!) {
    const found = (await read(undefined, linha.cTribNac, linha.documento, '0')).naoIncidencias!;
    assert.deepEqual(found.at(-1), linha);
  }
  assert.deepEqual(Object.keys(EXAMPLE_CADASTROS), Object.keys(await read(undefined, '010101', '', '0')));
});

describe('a registered benefit on the note', () => {
  const BM = 'valores/trib/tribMun/BM';
  const ISENTA: Patch = {
    'serv/cServ/cTribNac': '170601',
    [`${BM}/nBM`]: '35503080400002',
    'valores/trib/tribMun/pAliq': null,
  };
  const DIFERENCIADA: Patch = { [`${BM}/nBM`]: '35503080400004', 'valores/trib/tribMun/pAliq': null };

  test('of each kind has its tpBM and its amounts', async () => {
    for (const [patch, values] of [
      [
        { [`${BM}/nBM`]: '35503080400001', [`${BM}/pRedBCBM`]: '50.00', 'valores/trib/tribMun/pAliq': '5.00' },
        'tpBM 2 vCalcBM 500.00 vBC 500.00 pAliqAplic 5.00 vISSQN 25.00 vTotalRet 0.00 vLiq 1000.00',
      ],
      [
        { [`${BM}/nBM`]: '35503080400003', [`${BM}/vRedBCBM`]: '250.00', 'valores/trib/tribMun/pAliq': '5.00' },
        'tpBM 3 vBC 750.00 pAliqAplic 5.00 vISSQN 37.50 vTotalRet 0.00 vLiq 1000.00',
      ],
      [DIFERENCIADA, 'tpBM 4 vBC 1000.00 pAliqAplic 2.00 vISSQN 20.00 vTotalRet 0.00 vLiq 1000.00'],
      // The base is empty by the formula of E1295, and no rate is added.
      [ISENTA, 'tpBM 1 vCalcBM 1000.00 vBC 0.00 vISSQN 0.00 vTotalRet 0.00 vLiq 1000.00'],
      [
        { ...ISENTA, 'valores/vDescCondIncond/vDescIncond': '100.00' },
        'tpBM 1 vCalcBM 900.00 vBC 0.00 vISSQN 0.00 vTotalRet 0.00 vLiq 900.00',
      ],
    ] as const) {
      assert.equal(await valuesOn('cadastrado', patch), values);
    }
  });

  test('sets the rate before that of the service list', async () => {
    const slug = await town();
    await done(['servicos', 'importar', list('001,Sistemas,010101,,5.00,2026-01-01,'), '--municipio', slug]);
    await done(['beneficios', 'importar', example('beneficios.csv'), '--municipio', slug, '--confirmar']);
    assert.match(await valuesOn(slug, { 'valores/trib/tribMun/pAliq': null }), /^vBC 1000.00 pAliqAplic 5.00/);
    assert.match(await valuesOn(slug, DIFERENCIADA), /^tpBM 4 vBC 1000.00 pAliqAplic 2.00 vISSQN 20.00/);
  });

  test('is told step by step in the dry run', async () => {
    const formulas = async (patch: Patch): Promise<Record<string, string>> => {
      const { status, body } = await send('cadastrado', exampleXml(patch), '/validacao');
      assert.equal(status, 200, JSON.stringify(body));
      const steps: readonly { campo: string; formula: string; valor: string }[] = body.calculo;
      return Object.fromEntries(steps.map(({ campo, formula, valor }) => [campo, `${formula} = ${valor}`]));
    };
    const isenta = await formulas({ ...ISENTA, 'valores/vDescCondIncond/vDescIncond': '100.00' });
    assert.equal(
      isenta['valores/vCalcBM'],
      'isenção registrada pelo município: a base inteira, vServ 1000.00 − vDescIncond 100.00 = 900.00',
    );
    assert.equal(isenta['valores/vBC'], 'vServ 1000.00 − vDescIncond 100.00 − vCalcBM 900.00 = 0.00');
    const diferenciada = await formulas(DIFERENCIADA);
    assert.equal(
      diferenciada['valores/pAliqAplic'],
      'alíquota diferenciada do benefício municipal 35503080400004 = 2.00',
    );
  });

  test('of a service that LC 116 does not let be exempt is refused, as any base below the minimum', async () => {
    const slug = await town();
    const header = headerOf('beneficios.csv');
    const row = '35503080400002,Isenção,isencao,,,,,2026-01-01,';
    const said = await done([
      'beneficios',
      'importar',
      file(`${header}\n${row}\n`),
      '--municipio',
      slug,
      '--confirmar',
    ]);
    assert.match(said, /Benefícios de .*: novos 1/);
    const patch = { ...ISENTA, 'serv/cServ/cTribNac': '010101' };
    assert.deepEqual(codesOf(await send(slug, exampleXml(patch))), ['E0429']);
    assert.equal((await send(slug, exampleXml(ISENTA))).status, 201);
  });

  test('of another municipality is none of ours: the tax is due there', async () => {
    const elsewhere: Patch = {
      'serv/cServ/cTribNac': '170501',
      'toma/end/endNac/cMun': '3304557',
      [`${BM}/nBM`]: '33045570400001',
      [`${BM}/pRedBCBM`]: '10.00',
      'valores/trib/tribMun/pAliq': '5.00',
    };
    assert.match(await valuesOn('cadastrado', elsewhere), /^vCalcBM 100.00 vBC 900.00/);
  });

  test('lets the legacy port send an exempt RPS without a reduction and without a rate', async () => {
    const slug = await town();
    const correlacao = file(
      'item,codigo_municipal,codigo_tributacao_nacional,nbs,cst,cclasstrib,cindop,tipo_imunidade,numero_beneficio\n17.06,,170601,115021000,000,000001,100301,,35503080400002\n',
    );
    await done(['correlacao', 'importar', correlacao, '--municipio', slug]);
    await done(['beneficios', 'importar', example('beneficios.csv'), '--municipio', slug, '--confirmar']);
    const { situacao, documento } = await sendLote(
      service.address,
      loteXml([{ numero: 1, item: '17.06', natureza: '3' }]),
      slug,
    );
    assert.equal(situacao, '4', documento);
    const chave = /Id="NFS(\d{50})"/.exec(documento)![1]!;
    const { body } = await request(service.address, `/${slug}/api/v1/nfse/${chave}`);
    assert.match(body.nota.xml_nota, /<BM><nBM>35503080400002<\/nBM><\/BM><tpRetISSQN>1<\/tpRetISSQN><\/tribMun>/);
    assert.match(await nfseOf(slug, chave), /<tpBM>1<\/tpBM><vCalcBM>1000.00<\/vCalcBM><vBC>0.00<\/vBC>/);
  });
});

let written = 0;

function file(content: string): string {
  const name = path.join(folder, `entrada${++written}.csv`);
  writeFileSync(name, content);
  return name;
}

function list(...rows: readonly string[]): string {
  return file(['codigo,descricao,codigo_tributacao_nacional,cnae_codigo,aliquota,inicio,fim', ...rows, ''].join('\n'));
}

describe('a file of a register', () => {
  test('says of each line what is wrong, and then nothing is written', async () => {
    const slug = await town();
    for (const [what, rows] of Object.entries(WRONG) as [What, (typeof WRONG)[What]][]) {
      const header = headerOf(FILES[what]);
      const content = `${[header, ...rows.map(([row]) => row)].join('\n')}\n`;
      const { code, err } = await run([what, 'importar', file(content), '--municipio', slug]);
      assert.equal(code, 1);
      assert.match(err, /Nada foi gravado/);
      const told = new Map(
        [...err.matchAll(/^ {2}linha (\d+): (.*)$/gm)].map(([, linha, why]) => [Number(linha), why!]),
      );
      for (const [place, [row, why]] of rows.entries()) {
        if (why === undefined) assert.equal(told.get(place + 2), undefined, row);
        else assert.match(told.get(place + 2) ?? '', why, row);
      }
      assert.equal((await run([what, 'listar', '--municipio', slug])).out, '');
    }
  });

  test('is listed as it came, and the same again changes nothing', async () => {
    for (const [what, name] of Object.entries(FILES)) {
      const listed = await done([what, 'exportar', '--municipio', 'cadastrado']);
      assert.deepEqual(await cellsOf(file(listed)), await cellsOf(example(name)));
      const again = await done([what, 'importar', file(listed), '--municipio', 'cadastrado', '--confirmar']);
      assert.match(again, /novos 0, alterados 0, iguais \d+, retirados 0/);
    }
  });

  test('takes the place of the lines of its own keys, and leaves the others', async () => {
    const slug = await town();
    await done(['beneficios', 'importar', example('beneficios.csv'), '--municipio', slug, '--confirmar']);
    const header = headerOf('beneficios.csv');
    const other = '35503080400001,Incentivo,reducao_percentual,30.00,,,,2026-07-01,';
    const said = await done([
      'beneficios',
      'importar',
      file(`${header}\n${other}\n`),
      '--municipio',
      slug,
      '--confirmar',
    ]);
    assert.match(said, /Benefícios de .*: novos 1, alterados 0, iguais 0, retirados 1\./);
    assert.match(await done(['municipio', 'mostrar', slug]), /^ {2}benefícios +6 linhas$/m);
    const all = await done(['municipio', 'mostrar', 'cadastrado']);
    for (const row of [/deduções +3 linhas/, /regimes especiais +4 linhas/, /não incidências +2 linhas/])
      assert.match(all, row);
    assert.doesNotMatch(await done(['municipio', 'mostrar', await town()]), /benefícios|deduções|regimes|incidências/);
    const { code, err } = await run(['municipio', 'excluir', slug]);
    assert.equal(code, 2);
    assert.match(err, /^ {2}benefícios +6 linhas$/m);
    await done(['municipio', 'excluir', slug, '--confirmar']);
  });
});

/** Rows of each file, and the reasons of their refusals. */
const WRONG: Readonly<Record<What, readonly (readonly [row: string, why?: RegExp])[]>> = {
  beneficios: [
    ['35503080400001,Certo,reducao_percentual,50.00,,,,2026-01-01,'],
    [',A,isencao,,,,,2026-01-01,', /numero está vazio/],
    ['123,A,isencao,,,,,2026-01-01,', /numero não tem 14 dígitos/],
    ['33045570400001,A,isencao,,,,,2026-01-01,', /não começa com o código IBGE do município, 3550308/],
    ['35503080400007,A,isento,,,,,2026-01-01,', /tipo isento não existe; use isencao, reducao_percentual/],
    ['35503080400008,A,reducao_percentual,,,,,2026-01-01,', /reducao está vazio, e o tipo é reducao_percentual/],
    ['35503080400009,A,reducao_percentual,101,,,,2026-01-01,', /reducao passa de 100 %/],
    ['35503080400010,A,isencao,50,,,,2026-01-01,', /reducao não cabe no tipo isencao; deixe vazio/],
    ['35503080400011,A,aliquota_diferenciada,,,,,2026-01-01,', /aliquota está vazio/],
    ['35503080400012,A,isencao,,,010101 999999,,2026-01-01,', /servicos 999999 não existe na lista nacional/],
    ['35503080400013,A,isencao,,,,11222333000182,2026-01-01,', /documentos um deles não é um CNPJ/],
    ['35503080400014,A,isencao,,,,,,', /inicio está vazio/],
    ['35503080400015,A,isencao,,,,,2026-02-01,2026-01-01', /fim é anterior a inicio/],
    ['35503080400001,Outro,reducao_percentual,40.00,,,,2026-01-01,', /repete a chave da linha 2 com outros dados/],
    ['35503080400001,Outro,reducao_percentual,40.00,,,,2026-06-01,', /o período se sobrepõe ao da linha 2/],
  ],
  deducoes: [
    ['010101,valor,2026-01-01,'],
    [',valor,2026-01-01,', /codigo_tributacao_nacional está vazio/],
    ['999999,valor,2026-01-01,', /codigo_tributacao_nacional 999999 não existe na lista nacional/],
    ['010201,,2026-01-01,', /formas está vazio; use valor, percentual, documentos/],
    ['010201,valor notas,2026-01-01,', /formas notas não existe; use valor, percentual, documentos/],
    ['010201,valor,,', /inicio está vazio/],
    ['010101,percentual,2026-01-01,', /repete a chave da linha 2 com outros dados/],
  ],
  regimes: [
    ['6,11222333000181,,2026-01-01,'],
    [',11222333000181,,2026-01-01,', /regime está vazio; use o código: 1 Ato Cooperado/],
    ['0,11222333000181,,2026-01-01,', /regime 0 não existe/],
    ['6,11222333000182,,2026-01-01,', /documento não é um CNPJ/],
    ['6,11444777000161,9,2026-01-01,', /servicos 9 não tem 6 dígitos/],
    ['5,11222333000181,,31/02/2026,', /inicio traz um dia que não existe/],
    // The periods overlap for the same regime and document; another regime or document is another line.
    ['6,11222333000181,,2026-05-01,', /o período se sobrepõe ao da linha 2/],
    ['4,11222333000181,,2026-05-01,'],
    ['6,,,2026-05-01,'],
  ],
  'nao-incidencias': [
    ['010101,11222333000181,2026-01-01,'],
    ['010101,,2026-01-01,'],
    ['1010,,2026-01-01,', /codigo_tributacao_nacional 1010 não tem 6 dígitos/],
    ['010201,1,2026-01-01,', /documento não é CNPJ nem CPF: tem 1 posição/],
    ['010101,,2026-02-01,', /o período se sobrepõe ao da linha 3/],
  ],
};

test('a municipality without registers is asked nothing more than whether it keeps any', async () => {
  const asked: string[] = [];
  const pool = new Proxy(service.pool, {
    get: (target, property) => {
      const value = Reflect.get(target, property);
      if (property !== 'query') return typeof value === 'function' ? value.bind(target) : value;
      return (query: { name?: string }, ...rest: unknown[]) => {
        asked.push(query.name ?? '');
        return (value as (...all: unknown[]) => unknown).call(target, query, ...rest);
      };
    },
  });
  const store = createStore(pool);
  const operacao = { cTribNac: '010101', documento: '11222333000181', regime: '6', deduz: true };
  const named = { nBM: '35503080400001', operacao };
  const slug = await town();
  await Promise.all([store.servicos.findByCodes(slug, '010101', '001'), store.cadastros.find(slug, named)]);
  assert.deepEqual(asked, ['listas_mantidas']);
  await Promise.all([1, 2, 3].map(() => store.cadastros.find('cadastrado', named)));
  const each = ['beneficios', 'deducoes', 'nao_incidencias', 'regimes'].map((nome) => `${nome}_por_chave`);
  assert.deepEqual(asked.slice(1).toSorted(), [...each, 'listas_mantidas', 'regimes_admitidos'].toSorted());
});
