/**
 * The catalogs against the statements of their sources: their sizes, codes of one table that must exist in another, and facts that anyone
 * can look up. The reader that the generator uses is tested here too, because nothing else runs it.
 *
 * This test does not compare the files with the generator's output: the source tables lie outside this project.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { catalog, cell, flag, match, maybe, parseCsv, type Row, text } from '../../../scripts/csv.ts';
import {
  aliquotasIbsCbs,
  CAMPOS_ENUMERADOS,
  classificacaoOf,
  classificacoes,
  correlacoes,
  correlacoesOf,
  correlacoesOfSubitem,
  creditoPresumidoOf,
  creditosPresumidos,
  cstOf,
  csts,
  enumeracaoOf,
  indicadores,
  indicadorOf,
  moedaOf,
  moedas,
  municipioOf,
  municipios,
  nbsList,
  nbsOf,
  paises,
  paisOf,
  servicoOf,
  servicos,
} from './catalogs.ts';

const FILES = [
  'aliquotas-ibs-cbs',
  'classificacao-tributaria',
  'correlacao',
  'credito-presumido',
  'cst',
  'enumeracoes',
  'indicador-operacao',
  'moedas',
  'municipios',
  'nbs',
  'paises',
  'servicos',
];

function tally<Value>(values: Iterable<Value>): Map<Value, number> {
  return new Map([...Map.groupBy(values, (value) => value)].map(([value, same]) => [value, same.length]));
}

describe('files', () => {
  for (const name of FILES) {
    it(`${name} states its source and date, has one row a line, each as wide as its columns`, () => {
      const content = readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8');
      const table = JSON.parse(content);
      assert.deepEqual(Object.keys(table), ['fonte', 'data', 'gerado_por', 'colunas', 'linhas']);
      assert.match(table.fonte, /\S/);
      assert.match(table.data, /^\d{4}-\d\d-\d\d$/);
      assert.equal(table.gerado_por, 'scripts/generate-catalogs.ts');
      assert.ok(table.linhas.every((linha: unknown[]) => linha.length === table.colunas.length));
      assert.equal(content.split('\n').filter((line) => line.startsWith('    [')).length, table.linhas.length);
    });
  }
});

describe('services', () => {
  it('has 587 lines: 338 issuable, 242 headings, 7 future codes', () => {
    assert.equal(servicos().length, 587);
    assert.equal(servicos().filter((servico) => servico.emissivel).length, 338);
    assert.deepEqual(
      tally(servicos().map((servico) => servico.situacao)),
      new Map([
        ['cabecalho', 242],
        ['vigente', 338],
        ['futuro', 7],
      ]),
    );
  });

  it('publishes 277 EP, 58 LP, 1 ET, 1 NI, and leaves 8 of 345 codes without a rule', () => {
    const codes = servicos().filter((servico) => servico.nivel === 'desdobro');
    assert.equal(codes.length, 345);
    assert.deepEqual(
      tally(codes.filter((servico) => servico.regraPublicada).map((servico) => servico.regra)),
      new Map([
        ['EP', 277],
        ['LP', 58],
        ['ET', 1],
        ['NI', 1],
      ] as const),
    );
    assert.equal(codes.filter((servico) => !servico.regraPublicada).length, 8);
  });

  it('gives every issuable code a rule and no other code one', () => {
    assert.deepEqual(
      servicos().filter((servico) => servico.emissivel !== (servico.regra !== undefined)),
      [],
    );
  });

  it('counts 200102 as EP (D-80), future codes as nothing', () => {
    const decided = servicoOf('200102');
    assert.deepEqual([decided?.emissivel, decided?.regra, decided?.regraPublicada], [true, 'EP', false]);
    const future = servicos().filter((servico) => servico.situacao === 'futuro');
    assert.deepEqual(
      tally(future.map((servico) => servico.codigo.slice(0, 4))),
      new Map([
        ['9902', 1],
        ['9903', 5],
        ['9904', 1],
      ]),
    );
    assert.ok(future.every((servico) => !servico.emissivel && servico.regra === undefined));
  });

  it('knows the places that LC 116 art. 3 names', () => {
    assert.equal(servicoOf('010101')?.regra, 'EP');
    assert.equal(servicoOf('010101')?.descricao, 'Análise e desenvolvimento de sistemas.');
    assert.equal(servicoOf('170501')?.regra, 'ET');
    assert.equal(servicoOf('170501')?.dispositivoLC116, 'Art. 3º, XX');
    assert.equal(servicoOf('990101')?.regra, 'NI');
    assert.equal(servicoOf('070201')?.regra, 'LP');
    assert.equal(servicoOf('200101')?.regra, 'LP');
    assert.equal(servicoOf('010100')?.emissivel, false);
    assert.equal(servicoOf('000000'), undefined);
  });

  it('asks for obra in 13 codes (E0370) and for atvEvento in the 19 of item 12 (E0390)', () => {
    const groupOf = (group: string) => servicos().filter((servico) => servico.grupoObrigatorio === group);
    assert.deepEqual(
      groupOf('obra').map((servico) => servico.codigo),
      '070201 070202 070401 070501 070502 070601 070602 070701 070801 071701 071901 141403 141404'.split(' '),
    );
    const item12 = servicos().filter((servico) => servico.item === '12' && servico.emissivel);
    assert.equal(item12.length, 19);
    assert.deepEqual(groupOf('atvEvento'), item12);
  });

  it('has each issuable code below its subitem and its item', () => {
    for (const servico of servicos()) {
      if (!servico.emissivel) continue;
      assert.equal(servicoOf(`${servico.codigo.slice(0, 4)}00`)?.subitem, servico.subitem);
      assert.equal(servicoOf(`${servico.item}0000`)?.nivel, 'item');
    }
  });
});

describe('NBS', () => {
  it('has 1238 lines, of which 917 issuable, all of nine digits with their mask', () => {
    assert.equal(nbsList().length, 1238);
    const issuable = nbsList().filter((nbs) => nbs.emissivel);
    assert.equal(issuable.length, 917);
    for (const { codigo, codigoFormatado } of issuable) {
      assert.match(codigo, /^1\d{8}$/);
      assert.equal(codigoFormatado, codigo.replace(/^(..)(..)(..)(..)(.)$/, '$1.$2.$3.$4-$5'));
    }
  });

  it('keeps four leaves of nine digits that may not be issued', () => {
    const kept = nbsList().filter((nbs) => nbs.nivel === 'codigo' && !nbs.emissivel);
    assert.deepEqual(kept.map((nbs) => nbs.codigoOficial).sort(), [
      '1.0402.29.00',
      '1.0403.29.00',
      '1.0904.40.00',
      '9.9999.99.99',
    ]);
    assert.equal(nbsOf('999999999')?.descricao, undefined);
  });

  it('puts a leaf below its chapter', () => {
    assert.equal(nbsOf('115021000')?.codigoOficial, '1.1502.10.00');
    assert.equal(nbsOf('115')?.nivel, 'capitulo');
    assert.equal(nbsOf('11502.10.00'), undefined);
  });
});

describe('places and currencies', () => {
  it('has 5571 municipalities in 27 states, none with a repeated name within its state', () => {
    assert.equal(municipios().length, 5571);
    assert.equal(new Set(municipios().map((municipio) => municipio.uf)).size, 27);
    assert.equal(new Set(municipios().map(({ uf, nome }) => `${uf} ${nome.toLowerCase()}`)).size, 5571);
    assert.equal(municipios().filter((municipio) => municipio.uf === 'SP').length, 645);
  });

  it('knows São Paulo, the capital, and the newest one', () => {
    assert.deepEqual(municipioOf('3550308'), {
      codigoIbge: '3550308',
      nome: 'São Paulo',
      uf: 'SP',
      fusoHorario: 'America/Sao_Paulo',
    });
    assert.equal(municipioOf('5300108')?.nome, 'Brasília');
    assert.equal(municipioOf('5101837')?.nome, 'Boa Esperança do Norte');
    assert.equal(municipioOf('0000000'), undefined);
  });

  it('names only zones that the runtime knows, with the four offsets of Brazil', () => {
    const offsetOf = (zone: string) =>
      new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
        .formatToParts(new Date('2026-11-21T12:00:00Z'))
        .find((part) => part.type === 'timeZoneName')?.value;
    const offsets = new Map(
      [...new Set(municipios().map(({ fusoHorario }) => fusoHorario))].map((zone) => [zone, offsetOf(zone)]),
    );
    assert.deepEqual([...new Set(offsets.values())].sort(), ['GMT-02:00', 'GMT-03:00', 'GMT-04:00', 'GMT-05:00']);
    assert.equal(offsets.get(municipioOf('2605459')?.fusoHorario ?? ''), 'GMT-02:00', 'Fernando de Noronha');
    assert.equal(offsets.get(municipioOf('1200401')?.fusoHorario ?? ''), 'GMT-05:00', 'Rio Branco');
    assert.equal(offsets.get(municipioOf('1302603')?.fusoHorario ?? ''), 'GMT-04:00', 'Manaus');
  });

  it('has 250 countries, two of which are no address abroad', () => {
    assert.equal(paises().length, 250);
    assert.deepEqual(
      paises().flatMap((pais) => (pais.aceitoEnderecoExterior ? [] : [pais.codigo])),
      ['BR', 'ZZ'],
    );
    assert.equal(paisOf('US')?.codigoBacen, '2496');
    assert.equal(paisOf('us'), undefined);
  });

  it('has 163 currencies, by the code of the central bank', () => {
    assert.equal(moedas().length, 163);
    assert.equal(moedaOf('220')?.sigla, 'USD');
    assert.equal(moedaOf('978')?.sigla, 'EUR');
    assert.equal(moedaOf('790')?.sigla, 'BRL');
    assert.equal(moedaOf('840')?.sigla, 'MUR', 'the number that ISO 4217 gives to USD');
    assert.equal(moedaOf('986'), undefined, 'the number that ISO 4217 gives to BRL');
    assert.equal(moedas().filter((moeda) => !moeda.ativa).length, 5);
    const letters = moedas().flatMap((moeda) => (moeda.ativa ? [moeda.sigla] : []));
    assert.equal(new Set(letters).size, letters.length);
  });
});

describe('IBS and CBS', () => {
  it('has 173 classifications, 73 of them for the NFS-e, each under one of 18 CST', () => {
    assert.equal(classificacoes().length, 173);
    assert.equal(classificacoes().filter((classificacao) => classificacao.indNFSe).length, 73);
    assert.deepEqual(
      classificacoes().flatMap((classificacao) => (classificacao.indNFSeVia ? [classificacao.codigo] : [])),
      ['000002'],
    );
    assert.equal(csts().length, 18);
    for (const { codigo, cst } of classificacoes()) {
      assert.ok(codigo.startsWith(cst));
      assert.ok(cstOf(cst), cst);
    }
  });

  it('reduces rates only under a CST that has the reduction group', () => {
    for (const { codigo, cst, indNFSe, pRedIBS, pRedCBS } of classificacoes()) {
      if (indNFSe && (pRedIBS !== '0' || pRedCBS !== '0')) assert.equal(cstOf(cst)?.ind_gRed, true, codigo);
    }
    const differing = classificacoes().filter(({ indNFSe, pRedIBS, pRedCBS }) => indNFSe && pRedIBS !== pRedCBS);
    assert.deepEqual(
      differing.map(({ codigo, pRedIBS, pRedCBS }) => [codigo, pRedIBS, pRedCBS]),
      [['200025', '60', '100']],
    );
  });

  it('knows the full taxation, the export and a classification of goods', () => {
    assert.equal(classificacaoOf('000001')?.nome, 'Situações tributadas integralmente pelo IBS e CBS.');
    assert.equal(classificacaoOf('000001')?.indNFSe, true);
    assert.equal(classificacaoOf('410004')?.cst, '410');
    assert.equal(cstOf('410')?.ind_gIBSCBS, false);
    assert.equal(classificacaoOf('000003')?.indNFSe, false);
    assert.equal(classificacaoOf('000003')?.documentos, 'NFe');
    assert.equal(classificacaoOf('999999'), undefined);
  });

  it('asks for regular taxation in the suspensions alone', () => {
    const regular = classificacoes().filter(({ indNFSe, ind_gTribRegular }) => indNFSe && ind_gTribRegular);
    assert.deepEqual(
      regular.map(({ codigo }) => codigo),
      ['550016', '550022'],
    );
  });

  it('has 13 presumed credits, two of them for the NFS-e', () => {
    assert.equal(creditosPresumidos().length, 13);
    assert.deepEqual(
      creditosPresumidos().flatMap(({ codigo, indNFSe }) => (indNFSe ? [codigo] : [])),
      ['01', '02'],
    );
    assert.equal(creditoPresumidoOf('01')?.inicioCBS, '2027-01-01');
  });

  it('has 44 operation indicators, 26 of them in Anexo C, each of those with its place but the toll roads', () => {
    assert.equal(indicadores().length, 44);
    assert.equal(indicadores().filter(({ emAnexoC }) => emAnexoC).length, 26);
    assert.deepEqual(
      indicadores().flatMap(({ codigo, emAnexoC, campoLocal }) =>
        emAnexoC === (campoLocal !== undefined) ? [] : [codigo],
      ),
      ['080101'],
    );
    assert.equal(indicadorOf('020101')?.campoLocal, 'cLocPrestacao');
    assert.equal(indicadorOf('030101')?.campoLocal, 'prest');
    assert.equal(indicadorOf('030103')?.campoLocal, 'dest');
    assert.equal(indicadorOf('040101')?.campoLocal, 'atvEvento');
    assert.equal(indicadorOf('100301')?.campoLocal, 'destOuToma');
    assert.equal(indicadorOf('100502')?.campoLocal, 'destOuTomaExterior');
    assert.deepEqual(
      indicadores().flatMap(({ codigo, validoNFSe }) => (validoNFSe === undefined ? [codigo] : [])),
      ['020102'],
    );
    assert.deepEqual(
      indicadores().flatMap(({ codigo, emAnexoC, validoNFSe }) => (emAnexoC && !validoNFSe ? [codigo] : [])),
      ['080101'],
    );
  });

  it('has 1514 correlations, of codes that all exist and are for services', () => {
    assert.equal(correlacoes().length, 1514);
    assert.equal(correlacoes().filter(({ nbs }) => nbs === undefined).length, 12);
    const subitens = new Set(servicos().map(({ subitem }) => subitem));
    for (const { subitem, cTribNac, nbs, cIndOp, cClassTrib } of correlacoes()) {
      assert.ok(subitens.has(subitem), subitem);
      if (cTribNac !== undefined) assert.equal(servicoOf(cTribNac)?.subitem, subitem);
      if (nbs !== undefined) assert.equal(nbsOf(nbs)?.emissivel, true, nbs);
      if (cIndOp !== undefined) assert.ok(indicadorOf(cIndOp), cIndOp);
      if (cClassTrib !== undefined) assert.equal(classificacaoOf(cClassTrib)?.indNFSe, true, cClassTrib);
    }
  });

  it('finds correlations by NBS and by subitem', () => {
    assert.deepEqual(
      correlacoesOf('115029000').flatMap(({ subitem, cClassTrib }) => (subitem === '01.01' ? [cClassTrib] : [])),
      ['000001', '200043', '200044'],
    );
    assert.equal(correlacoesOfSubitem('01.01').length, 13);
    assert.deepEqual(correlacoesOf('000000000'), []);
    assert.deepEqual(correlacoesOfSubitem('98.01'), []);
    const leaves = nbsList().filter(({ codigo, emissivel }) => emissivel && correlacoesOf(codigo).length === 0);
    assert.equal(leaves.length, 186);
  });

  it('ships the rates of the test year (LC 214 arts. 343 and 346) and none where none is fixed', () => {
    const rateOn = (tributo: string, day: string) =>
      aliquotasIbsCbs().find(
        (row) => row.tributo === tributo && row.cClassTrib === undefined && row.inicio <= day && day <= row.fim!,
      );
    for (const day of ['2026-01-01', '2026-08-15', '2026-12-31']) {
      assert.equal(rateOn('IBS-UF', day)?.aliquota, '0.10');
      assert.equal(rateOn('IBS-MUN', day)?.aliquota, '0.00');
      assert.equal(rateOn('CBS', day)?.aliquota, '0.90');
    }
    assert.equal(rateOn('IBS-UF', '2027-01-01')?.aliquota, '0.05');
    assert.equal(rateOn('IBS-MUN', '2028-12-31')?.aliquota, '0.05');
    assert.equal(rateOn('CBS', '2027-01-01')?.situacao, 'pendente');
    assert.equal(rateOn('CBS', '2027-01-01')?.aliquota, undefined);
    assert.equal(rateOn('IBS-UF', '2025-12-31'), undefined);
    assert.equal(rateOn('IBS-UF', '2029-01-01'), undefined);
  });

  it('ships the own rates of three classifications, until the end of 2026 (V0053 and V0056 of the calculator)', () => {
    const own = aliquotasIbsCbs().flatMap(({ tributo, cClassTrib, inicio, fim, aliquota }) =>
      cClassTrib === undefined ? [] : [[cClassTrib, tributo, inicio, fim, aliquota].join(' ')],
    );
    const year = '2026-01-01 2026-12-31';
    assert.deepEqual(
      own,
      ['010001', '010002', '221001'].flatMap((codigo) => {
        const [cbs, uf] = codigo === '221001' ? ['3.285', '0.365'] : ['0.90', '0.10'];
        return [`${codigo} CBS ${year} ${cbs}`, `${codigo} IBS-MUN ${year} 0.00`, `${codigo} IBS-UF ${year} ${uf}`];
      }),
    );
  });
});

describe('enumerations', () => {
  it('has values for every enumerated field, 198 in all, none repeated', () => {
    const values = CAMPOS_ENUMERADOS.flatMap((campo) => enumeracaoOf(campo));
    assert.equal(values.length, 198);
    assert.equal(new Set(values.map(({ campo, codigo }) => `${campo} ${codigo}`)).size, 198);
    for (const campo of CAMPOS_ENUMERADOS) assert.ok(enumeracaoOf(campo).length > 0, campo);
  });

  it('spells values as the schema does', () => {
    const codesOf = (campo: (typeof CAMPOS_ENUMERADOS)[number]) =>
      enumeracaoOf(campo)
        .map(({ codigo }) => codigo)
        .join(' ');
    assert.equal(codesOf('tribISSQN'), '1 2 3 4');
    assert.equal(codesOf('subst/cMotivo'), '01 02 03 04 05 99');
    assert.equal(codesOf('tpDedRed'), '1 2 3 4 5 6 7 8 9 99');
    assert.equal(codesOf('mecAFComexP'), '00 01 02 03 04 05 06 07 08');
    assert.equal(codesOf('vincPrest'), '0 1 2 3 4 5 6 9');
    assert.equal(codesOf('opSimpNac'), '1 2 3', 'the fourth is of a future layout');
    assert.equal(enumeracaoOf('mecAFComexT').length, 27);
    assert.equal(enumeracaoOf('piscofins/CST').length, 34);
    assert.equal(enumeracaoOf('tribISSQN')[2]?.descricao, 'Exportação de serviço');
  });

  it('marks the values that exist for sharing alone', () => {
    const shared = CAMPOS_ENUMERADOS.flatMap((campo) => enumeracaoOf(campo)).filter(
      (valor) => valor.soCompartilhamento,
    );
    assert.deepEqual(shared.map(({ campo, codigo }) => `${campo} ${codigo}`).sort(), [
      'cNaoNIF 0',
      'mdPrestacao 0',
      'mecAFComexP 00',
      'mecAFComexT 00',
      'movTempBens 0',
      'tpImunidade 0',
      'vincPrest 9',
    ]);
  });
});

describe('the reader of CSV tables', () => {
  const cellsOf = (source: string, columns: readonly string[]) =>
    parseCsv(source, 'x.csv').map((row) => columns.map((column) => row(column)));

  it('reads quotes, doubled quotes, commas and line ends in cells, and empty cells at either end', () => {
    assert.deepEqual(cellsOf('a,b,c\n1,"x, ""y""\nz",\n,,3\r\n"",2,"3"', ['a', 'b', 'c']), [
      ['1', 'x, "y"\nz', ''],
      ['', '', '3'],
      ['', '2', '3'],
    ]);
    assert.deepEqual(cellsOf('a,b\n1,', ['a', 'b']), [['1', '']]);
    assert.deepEqual(cellsOf('a\n', ['a']), []);
  });

  it('refuses what is broken', () => {
    for (const broken of ['a,b\n1\n', 'a\n1"2\n', 'a\n"1"2\n', 'a\n"1\n', 'a,a\n1,2\n', '\ufeffa\n1\n', '']) {
      assert.throws(() => parseCsv(broken, 'x.csv'), /^Error: x\.csv/, JSON.stringify(broken));
    }
    assert.throws(() => cellsOf('a\n1\n', ['b']), /x\.csv has no column b/);
  });

  it('writes a catalog, and names every fault of a table at once', () => {
    interface Line {
      readonly codigo: string;
      readonly nome?: string;
      readonly ativa: boolean;
    }
    const lines = catalog<Line>({
      file: 'lines.json',
      fonte: 'A lei',
      rows: (read) => read('lines.csv'),
      key: ['codigo'],
      columns: { codigo: cell('c', match(/^\d$/)), nome: maybe('n', text), ativa: cell('a', flag) },
      assume: [['a name is never Z', (row: Row) => row('n') !== 'Z']],
      covers: ['codigo', ['1']],
    });
    const writtenFrom = (source: string) => lines.write((table) => parseCsv(source, table), '2026-11-21', 'here');
    const good = writtenFrom('c,n,a\n1,,S\n2,Dois,false\n');
    assert.deepEqual(good.faults, []);
    assert.equal(
      good.text,
      '{\n  "fonte": "A lei",\n  "data": "2026-11-21",\n  "gerado_por": "here",\n  "colunas": ["codigo","nome","ativa"],\n' +
        '  "linhas": [\n    ["1",null,true],\n    ["2","Dois",false]\n  ]\n}\n',
    );
    assert.deepEqual(writtenFrom('c,n,a\n2,Z,talvez\n2,x,\n').faults, [
      'lines.json, row 1: ativa: "talvez" is neither yes nor no',
      'lines.json, row 1: no longer true: a name is never Z (["2"])',
      'lines.json, row 2: ativa: a is empty',
      'lines.json, row 2: the key ["2"] occurs twice',
      'lines.json: no row with codigo 1',
    ]);
  });
});
