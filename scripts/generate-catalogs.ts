/**
 * Writes `src/fiscal/catalogs/*.json` from the national tables, a folder of CSV files kept outside this project.
 *
 *
 *     npx node scripts/generate-catalogs.ts [--check] [FOLDER]
 *
 * The option `--check` writes nothing, and gives exit code 1 when a committed file differs. Every column is declared
 * against the row type that reads it, so the compiler checks both ends. A malformed cell, a repeated key or a broken
 * assumption stops the run with all faults at once.
 *
 * The script is run by hand when a table changes; the project runs and tests on the committed files alone. It fetches
 * nothing and corrects nothing: a fault in a table is corrected in that table.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as catalogs from '../src/fiscal/catalogs/rows.ts';
import { type Catalog, catalog, cell, flag, match, maybe, oneOf, parseCsv, type Row, text } from './csv.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUTPUT = join(ROOT, 'src/fiscal/catalogs');
const DEFAULT_FOLDER = '../shared/data';
/** The day the tables were compiled; it changes with them, not with the day of the run. */
const COMPILED_ON = '2026-11-21';
const FAULTS_SHOWN_MAX = 40;

/**
 * 200102 is issuable, and no edition of the incidence table has a rule for it. The decision is the provider's
 * establishment, which the law gives for services in maritime waters (D-80).
 */
const DECIDED: Readonly<Record<string, { readonly regra: catalogs.RegraIncidencia; readonly dispositivo: string }>> = {
  '200102': { regra: 'EP', dispositivo: 'Art. 3º, § 3º' },
};

/** The field of the place's address, by the layout path in the source; the first match counts. */
const CAMPO_LOCAL: readonly (readonly [RegExp, catalogs.Indicador['campoLocal'] | null])[] = [
  [/^$/, null],
  [/^EXCLUSIVO PARA NFS-e Via\.$/, null],
  [/\/serv\/locPrest\/cLocPrestacao$/, 'cLocPrestacao'],
  [/^NFSe\/infNFSe\/DPS\/infDPS\/prest\/end\/$/, 'prest'],
  [/^NFSe\/infNFSe\/DPS\/infDPS\/IBSCBS\/dest\/$/, 'dest'],
  [/^NFSe\/infNFSe\/DPS\/infDPS\/serv\/atvEvento\/$/, 'atvEvento'],
  [/^-> Se .*indDest = 0.*\/toma\/end\/endExt.*\/IBSCBS\/dest\/end\/endExt/, 'destOuTomaExterior'],
  [/^-> Se .*indDest = 0.*\/toma\/.*\/IBSCBS\/dest\/$/, 'destOuToma'],
];

const DATE = match(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/);
const PERCENT = match(/^(100|\d{1,2})(\.\d{1,2})?$/);

/** Classifications with separate rates in the calculator of the Receita Federal (decided in D-115). */
const PROPRIAS = `tributo,cclasstrib,inicio,fim,aliquota_percentual,fonte,base_legal,situacao
${[
  ['010001', '0.10', '0.90', '212'],
  ['010002', '0.10', '0.90', '233'],
  ['221001', '0.365', '3.285', '487'],
]
  .flatMap(([codigo, uf, cbs, artigo]) =>
    [
      ['CBS', cbs],
      ['IBS-MUN', '0.00'],
      ['IBS-UF', uf],
    ].map(
      ([tributo, aliquota]) =>
        `${tributo},${codigo},2026-01-01,2026-12-31,${aliquota},"Calculadora da Receita Federal, V0056 (02/09/2026)","LC 214/2025, art. ${artigo}",confirmada`,
    ),
  )
  .join('\n')}
`;

/** Percentages of government purchases in the calculator (decided in D-201); an empty end means no end. */
const COMPRAS_GOV = `tributo,cclasstrib,inicio,fim,aliquota_percentual,fonte,base_legal,situacao
REDUTOR-COMPRA-GOV,,2026-01-01,,0.00,"Calculadora da Receita Federal, V0053 (28/08/2026)","LC 214/2025, arts. 370 e 472",confirmada
${[
  ['2026-01-01,2028-12-31', '0.00', 'V0023'],
  ['2029-01-01,2029-12-31', '10.00', 'V0019'],
  ['2030-01-01,2030-12-31', '20.00', 'V0019'],
  ['2031-01-01,2031-12-31', '30.00', 'V0019'],
  ['2032-01-01,2032-12-31', '40.00', 'V0019'],
  ['2033-01-01,', '100.00', 'V0019'],
]
  .map(
    ([periodo, percentual, versao]) =>
      `TRANSFERENCIA-CBS-GOV,,${periodo},${percentual},"Calculadora da Receita Federal, ${versao} (08/01/2026)","LC 214/2025, art. 473",confirmada`,
  )
  .join('\n')}
`;

/** A rate for all classifications. */
const general =
  (row: Row): Row =>
  (column) =>
    column === 'cclasstrib' ? '' : column === 'fonte' ? 'Lei Complementar 214/2025' : row(column);

const CATALOGS: readonly Catalog[] = [
  catalog<catalogs.ServicoLinha>({
    file: 'servicos.json',
    fonte:
      'Anexo B v1.01 (22/01/2026); incidência: MUN.INCID_INFO.SERV. do Anexo I v1.01 (09/02/2026); ' +
      'códigos futuros: Anexo VI v1.04.00 e Anexo VIII v1.01.00',
    rows: (read) => {
      const incidencia = new Map(read('local_incidencia.csv').map((row) => [row('codigo'), row]));
      const joined = new Set(['regra', 'regra_importacao', 'dispositivo_lc116', 'grupo_obrigatorio']);
      return read('codigos_tributacao_nacional.csv').map(
        (row) => (column) => (joined.has(column) ? (incidencia.get(row('codigo'))?.(column) ?? '') : row(column)),
      );
    },
    key: ['codigo'],
    columns: {
      codigo: cell('codigo', match(/^\d{6}$/)),
      descricao: cell('descricao', text),
      item: cell('item', match(/^\d\d$/)),
      subitem: maybe('subitem', match(/^\d\d\.\d\d$/)),
      nivel: cell('nivel', oneOf(catalogs.NIVEIS_SERVICO)),
      emissivel: cell('emissivel', flag),
      situacao: cell('situacao', oneOf(catalogs.SITUACOES_SERVICO)),
      regra: (row) => maybe('regra', oneOf(catalogs.REGRAS_INCIDENCIA))(row) ?? DECIDED[row('codigo')]?.regra ?? null,
      regraPublicada: (row) => row('regra') !== '',
      dispositivoLC116: (row) => DECIDED[row('codigo')]?.dispositivo ?? maybe('dispositivo_lc116', text)(row),
      grupoObrigatorio: maybe('grupo_obrigatorio', oneOf(catalogs.GRUPOS_OBRIGATORIOS)),
    },
    assume: [
      ['no source gives validity dates', (row) => row('inicio') === '' && row('fim') === ''],
      [
        'an issuable code has a rule',
        (row) => row('emissivel') !== 'true' || row('regra') !== '' || row('codigo') in DECIDED,
      ],
      ['a rule is decided only where none is published', (row) => !(row('codigo') in DECIDED) || row('regra') === ''],
      ['a code with a rule is issuable', (row) => row('regra') === '' || row('emissivel') === 'true'],
      [
        'on an import EDEmit prevails over every rule',
        (row) => !/[ELP]/.test(row('regra')) || row('regra_importacao') === 'EDEmit',
      ],
      ['every issuable code is below a subitem', (row) => row('emissivel') !== 'true' || row('nivel') === 'desdobro'],
    ],
  }),
  catalog<catalogs.Nbs>({
    file: 'nbs.json',
    fonte: 'Anexo B v1.01 (22/01/2026); NBS 2.0, Portaria Conjunta RFB/SCS 2.000/2018',
    rows: (read) => read('nbs.csv'),
    key: ['codigo'],
    columns: {
      codigo: cell('codigo', match(/^\d{3,9}$/)),
      codigoFormatado: maybe('codigo_formatado', match(/^\d\d\.\d\d\.\d\d\.\d\d-\d$/)),
      codigoOficial: cell('codigo_oficial', match(/^\d(\.\d+){1,3}$/)),
      descricao: maybe('descricao', text),
      secao: maybe('secao', match(/^(I|II|III|IV|V)$/)),
      nivel: cell('nivel', oneOf(catalogs.NIVEIS_NBS)),
      emissivel: cell('emissivel', flag),
    },
    assume: [
      [
        'the official writing has the same digits',
        (row) => row('codigo_oficial').replaceAll('.', '') === row('codigo'),
      ],
      [
        'the mask has the same digits',
        (row) => ['', row('codigo')].includes(row('codigo_formatado').replaceAll(/\D/g, '')),
      ],
      ['every leaf has nine digits and a mask', (row) => (row('nivel') === 'codigo') === /^\d{9}$/.test(row('codigo'))],
      [
        'only a described leaf is issuable',
        (row) => row('emissivel') !== 'true' || (row('nivel') === 'codigo' && !!row('descricao')),
      ],
    ],
  }),
  catalog<catalogs.Municipio>({
    file: 'municipios.json',
    fonte: 'Anexo A v1.00 (10/12/2025) e códigos do IBGE; fusos: base IANA',
    rows: (read) => read('municipios.csv'),
    key: ['codigoIbge'],
    columns: {
      codigoIbge: cell('codigo_ibge', match(/^\d{7}$/)),
      nome: cell('nome', text),
      uf: cell('uf', match(/^[A-Z]{2}$/)),
      fusoHorario: cell('fuso_horario', match(/^America\/[A-Z][A-Za-z_]+$/)),
    },
    assume: [['the code begins with the state', (row) => row('codigo_ibge').startsWith(row('codigo_uf'))]],
  }),
  catalog<catalogs.Pais>({
    file: 'paises.json',
    fonte: 'Anexo A v1.00 (10/12/2025); códigos do Banco Central: listas públicas, onde concordam',
    rows: (read) => read('paises.csv'),
    key: ['codigo'],
    columns: {
      codigo: cell('codigo', match(/^[A-Z]{2}$/)),
      nome: cell('nome', text),
      codigoBacen: (row) => (row('bacen_confirmado') === 'true' ? cell('codigo_bacen', match(/^\d{4}$/))(row) : null),
      aceitoEnderecoExterior: cell('aceito_endereco_exterior', flag),
    },
  }),
  catalog<catalogs.Moeda>({
    file: 'moedas.json',
    fonte: 'Tabelas de moedas do Banco Central, do Siscomex e do Siscoserv',
    rows: (read) => read('moedas.csv'),
    key: ['codigo'],
    columns: {
      codigo: cell('codigo', match(/^\d{3}$/)),
      sigla: cell('sigla', match(/^[A-Z]{3}$/)),
      nome: cell('nome', text),
      ativa: cell('ativa', flag),
      nota: maybe('nota', text),
    },
  }),
  catalog<catalogs.Classificacao>({
    file: 'classificacao-tributaria.json',
    fonte: 'IT 2025.002 v1.60 (22/06/2026) e Portal DF-e da SVRS (08/10/2026, IT 2025.002 v1.70)',
    rows: (read) => read('classificacao_tributaria.csv'),
    key: ['codigo'],
    columns: {
      codigo: cell('cclasstrib', match(/^\d{6}$/)),
      cst: cell('cst', match(/^\d{3}$/)),
      nome: maybe('nome', text),
      descricao: cell('descricao', text),
      tipoAliquota: cell('tipo_aliquota', oneOf(catalogs.TIPOS_ALIQUOTA)),
      pRedIBS: cell('p_red_ibs', PERCENT),
      pRedCBS: cell('p_red_cbs', PERCENT),
      ind_gTribRegular: cell('ind_gtribregular', flag),
      ind_gCredPresOper: cell('ind_gcredpresoper', flag),
      ind_gEstornoCred: maybe('ind_gestornocred', flag),
      tpRBSN: maybe('tp_rbsn', match(/^\d$/)),
      indNFSe: cell('ind_nfse', flag),
      indNFSeVia: cell('ind_nfse_via', flag),
      documentos: maybe('documentos', text),
      artigoLC214: maybe('artigo_lc214', text),
      inicioVigencia: cell('inicio_vigencia', DATE),
      fimVigencia: maybe('fim_vigencia', DATE),
    },
    assume: [
      ['the code begins with its CST', (row) => row('cclasstrib').startsWith(row('cst'))],
      ['no service is taxed in a single phase', (row) => row('ind_nfse') !== 'true' || !/1/.test(monofasica(row))],
    ],
  }),
  catalog<catalogs.Cst>({
    file: 'cst.json',
    fonte: 'IT 2025.002 v1.60 (22/06/2026) e Portal DF-e da SVRS (08/10/2026)',
    rows: (read) => read('cst_ibscbs.csv'),
    key: ['codigo'],
    columns: {
      codigo: cell('cst', match(/^\d{3}$/)),
      descricao: cell('descricao', text),
      ind_gIBSCBS: cell('ind_gibscbs', flag),
      ind_gIBSCBSMono: cell('ind_gibscbsmono', flag),
      ind_gRed: cell('ind_gred', flag),
      ind_gDif: cell('ind_gdif', flag),
      ind_gTransfCred: cell('ind_gtransfcred', flag),
      ind_gCredPresIBSZFM: cell('ind_gcredpresibszfm', flag),
      ind_gAjusteCompet: cell('ind_gajustecompet', flag),
      ind_RedutorBC: cell('ind_redutorbc', flag),
    },
  }),
  catalog<catalogs.CreditoPresumido>({
    file: 'credito-presumido.json',
    fonte: 'IT 2025.002 v1.60 (23/06/2026) e Portal DF-e da SVRS (08/10/2026)',
    rows: (read) => read('credito_presumido.csv'),
    key: ['codigo'],
    columns: {
      codigo: cell('ccredpres', match(/^\d\d$/)),
      descricao: cell('descricao', text),
      ind_gIBSCredPres: cell('ind_gibscredpres', flag),
      ind_gCBSCredPres: cell('ind_gcbscredpres', flag),
      indNFSe: cell('ind_nfse', flag),
      documentos: cell('documentos', text),
      inicioIBS: maybe('inicio_ibs', DATE),
      inicioCBS: maybe('inicio_cbs', DATE),
    },
    assume: [['no presumed credit has an end yet', (row) => row('fim_ibs') === '' && row('fim_cbs') === '']],
  }),
  catalog<catalogs.Indicador>({
    file: 'indicador-operacao.json',
    fonte: 'Anexo C v1.01 (22/01/2026); Anexo VII v1.02.00 e v1.03.00',
    rows: (read) => read('indicador_operacao.csv'),
    key: ['codigo'],
    columns: {
      codigo: cell('cindop', match(/^\d{6}$/)),
      tipoOperacao: cell('tipo_operacao', text),
      caracteristicaFornecimento: cell('caracteristica_fornecimento', text),
      localFornecimento: cell('local_fornecimento', text),
      dispositivoLC214: maybe('dispositivo_lc214', text),
      campoLocal: (row) => {
        const found = CAMPO_LOCAL.find(([pattern]) => pattern.test(row('campo_leiaute')));
        if (found === undefined) throw new Error(`campo_leiaute: no place is known for "${row('campo_leiaute')}"`);
        return found[1] ?? null;
      },
      observacao: maybe('observacao', text),
      emAnexoC: cell('em_anexo_c_v1_01', flag),
      validoNFSe: (row) => (row('valido_nfse') === 'indeterminado' ? null : cell('valido_nfse', flag)(row)),
    },
  }),
  catalog<catalogs.Correlacao>({
    file: 'correlacao.json',
    fonte: 'Anexo VIII v1.01.00, trabalho inicial segundo quem o publica',
    rows: (read) => read('correlacao_servico.csv'),
    key: ['subitem', 'cTribNac', 'nbs', 'cIndOp', 'cClassTrib', 'psOnerosa', 'adqExterior'],
    columns: {
      subitem: cell('subitem', match(/^\d\d\.\d\d$/)),
      cTribNac: maybe('ctribnac', match(/^\d{6}$/)),
      nbs: maybe('nbs', match(/^\d{9}$/)),
      cIndOp: maybe('cindop', match(/^\d{6}$/)),
      cClassTrib: maybe('cclasstrib', match(/^\d{6}$/)),
      psOnerosa: maybe('ps_onerosa', flag),
      adqExterior: maybe('adq_exterior', flag),
      nota: maybe('nota', text),
    },
  }),
  catalog<catalogs.AliquotaIbsCbs>({
    file: 'aliquotas-ibs-cbs.json',
    fonte:
      'Lei Complementar 214/2025, arts. 14, 343, 344, 346 e 347; calculadora da Receita Federal, V0053 (28/08/2026) e V0056 (02/09/2026)',
    rows: (read) => [
      ...read('aliquotas_ibs_cbs.csv').map(general),
      ...parseCsv(PROPRIAS, 'own rates'),
      ...parseCsv(COMPRAS_GOV, 'government purchases'),
    ],
    key: ['tributo', 'cClassTrib', 'inicio'],
    columns: {
      tributo: cell('tributo', oneOf(catalogs.LINHAS_IBS_CBS)),
      cClassTrib: maybe('cclasstrib', match(/^\d{6}$/)),
      inicio: cell('inicio', DATE),
      fim: maybe('fim', DATE),
      aliquota: maybe('aliquota_percentual', match(/^\d{1,3}\.\d{2,4}$/)),
      fonte: cell('fonte', text),
      baseLegal: cell('base_legal', text),
      situacao: cell('situacao', oneOf(catalogs.SITUACOES_ALIQUOTA)),
    },
    assume: [
      [
        'a rate is absent while it is pending',
        (row) => (row('situacao') === 'pendente') === !row('aliquota_percentual'),
      ],
    ],
  }),
  catalog<catalogs.ValorEnumerado>({
    file: 'enumeracoes.json',
    fonte: 'XSD 1.01 (09/02/2026 e 27/07/2026), Anexo I v1.01 e Anexo II v1.01',
    rows: (read) => read('enumeracoes.csv').filter((row) => row('leiaute') === '1.01'),
    key: ['campo', 'codigo'],
    columns: {
      campo: cell('campo', oneOf(catalogs.CAMPOS_ENUMERADOS)),
      codigo: cell('codigo', match(/^\d{1,3}$/)),
      descricao: cell('descricao', text),
      soCompartilhamento: cell('so_compartilhamento_adn', flag),
    },
    covers: ['campo', catalogs.CAMPOS_ENUMERADOS],
  }),
];

/** The four groups of single-phase taxation, which the NFS-e does not have. */
function monofasica(row: Row): string {
  return row('ind_gmonopadrao') + row('ind_gmonoreten') + row('ind_gmonoret') + row('ind_gmonodif');
}

/** Writes the files, or compares them. The exit code: 0 done or equal, 1 different, 2 the tables cannot be used. */
function main(args: readonly string[]): number {
  const check = args.includes('--check');
  const [given, ...others] = args.filter((arg) => arg !== '--check');
  const folder = given === undefined ? resolve(ROOT, DEFAULT_FOLDER) : resolve(given);
  if (given?.startsWith('-') || others.length > 0) {
    console.error('Usage: npx node scripts/generate-catalogs.ts [--check] [FOLDER]');
    return 2;
  }
  if (!existsSync(folder)) {
    console.error(`No folder of national tables at ${folder}. Name it as the argument:`);
    console.error('  npx node scripts/generate-catalogs.ts [--check] FOLDER');
    return 2;
  }
  const read = (table: string) => parseCsv(readFileSync(join(folder, table), 'utf8'), table);
  const written = CATALOGS.map(({ file, write }) => ({
    file,
    ...write(read, COMPILED_ON, 'scripts/generate-catalogs.ts'),
  }));
  const faults = written.flatMap((catalog) => catalog.faults);
  if (faults.length > 0) {
    for (const fault of faults.slice(0, FAULTS_SHOWN_MAX)) console.error(fault);
    console.error(`${faults.length} faults in ${folder}; nothing written.`);
    return 2;
  }
  return check ? compare(written) : write(written);
}

function write(files: readonly { readonly file: string; readonly text: string }[]): number {
  for (const { file, text } of files) writeFileSync(join(OUTPUT, file), text);
  console.log(`${files.length} catalogs written to ${OUTPUT}`);
  return 0;
}

function compare(files: readonly { readonly file: string; readonly text: string }[]): number {
  const committed = readdirSync(OUTPUT).filter((file) => file.endsWith('.json'));
  const stale = files.filter(
    ({ file, text }) => !committed.includes(file) || readFileSync(join(OUTPUT, file), 'utf8') !== text,
  );
  const unknown = committed.filter((file) => !files.some((generated) => generated.file === file));
  for (const { file } of stale) console.error(`${file}: differs from the tables`);
  for (const file of unknown) console.error(`${file}: no catalog writes it`);
  return stale.length + unknown.length === 0 ? 0 : 1;
}

if (import.meta.main) {
  try {
    process.exitCode = main(process.argv.slice(2));
  } catch (error) {
    // The table is missing, or is no CSV at all.
    console.error((error as Error).message);
    process.exitCode = 2;
  }
}
