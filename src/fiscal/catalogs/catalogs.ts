/**
 * The national catalogs: lists as data, each file with its source and date in its head, and plain lookups over them.
 * Importing only parses; rows become objects, and objects an index, at the first question.
 *
 * It decides nothing. What a code means for a nota is a rule's business, and the files are written by
 * `scripts/generate-catalogs.ts`, never by hand. Deliberately absent: whether a municipality administers a code
 * and at what rate (its own registry); `0000000`, maritime waters, a value of `cLocPrestacao` and no municipality;
 * the concession stretches of toll roads, whose register is not public; values of layouts not yet in force.
 */

import aliquotasData from './aliquotas-ibs-cbs.json' with { type: 'json' };
import camposData from './campos-evento.json' with { type: 'json' };
import classificacaoData from './classificacao-tributaria.json' with { type: 'json' };
import correlacaoData from './correlacao.json' with { type: 'json' };
import creditoData from './credito-presumido.json' with { type: 'json' };
import cstData from './cst.json' with { type: 'json' };
import enumeracoesData from './enumeracoes.json' with { type: 'json' };
import eventosData from './eventos.json' with { type: 'json' };
import compatibilidadeData from './eventos-compatibilidade.json' with { type: 'json' };
import indicadorData from './indicador-operacao.json' with { type: 'json' };
import moedasData from './moedas.json' with { type: 'json' };
import motivosData from './motivos-evento.json' with { type: 'json' };
import municipiosData from './municipios.json' with { type: 'json' };
import nbsData from './nbs.json' with { type: 'json' };
import paisesData from './paises.json' with { type: 'json' };
import type {
  AliquotaIbsCbs,
  CampoEnumerado,
  CampoEvento,
  Classificacao,
  CompatibilidadeEvento,
  Correlacao,
  CreditoPresumido,
  Cst,
  EventoNacional,
  Indicador,
  Moeda,
  MotivoEvento,
  Municipio,
  Nbs,
  Pais,
  Servico,
  TipoEvento,
  ValorEnumerado,
} from './rows.ts';
import servicosData from './servicos.json' with { type: 'json' };
import { byKey, once, rowsOf } from './table.ts';

export * from './rows.ts';

const allServicos = once(() => rowsOf<Servico>(servicosData));
const servicoByCode = once(() => byKey(allServicos(), (servico) => servico.codigo));
const allNbs = once(() => rowsOf<Nbs>(nbsData));
const nbsByCode = once(() => byKey(allNbs(), (nbs) => nbs.codigo));
const valuesByCampo = once(() => Map.groupBy(rowsOf<ValorEnumerado>(enumeracoesData), (valor) => valor.campo));

/** The national taxation code of six digits, headings and future codes included. Source: `servicos.json`. */
export function servicoOf(cTribNac: string): Servico | undefined {
  return servicoByCode().get(cTribNac);
}

/** All 587 lines of the list of services, by code; 338 of them may be issued. Source: `servicos.json`. */
export function servicos(): readonly Servico[] {
  return allServicos();
}

/** The NBS line of a code without punctuation, headings included. Source: `nbs.json`. */
export function nbsOf(codigo: string): Nbs | undefined {
  return nbsByCode().get(codigo);
}

/** All 1238 lines of the NBS, each heading before what it heads; 917 may be issued. Source: `nbs.json`. */
export function nbsList(): readonly Nbs[] {
  return allNbs();
}

/** The values of an enumerated field, in the order of the schema. Source: `enumeracoes.json`. */
export function enumeracaoOf(campo: CampoEnumerado): readonly ValorEnumerado[] {
  return valuesByCampo().get(campo) ?? [];
}

const allMunicipios = once(() => rowsOf<Municipio>(municipiosData));
const municipioByCode = once(() => byKey(allMunicipios(), (municipio) => municipio.codigoIbge));
const allPaises = once(() => rowsOf<Pais>(paisesData));
const paisByCode = once(() => byKey(allPaises(), (pais) => pais.codigo));
const allMoedas = once(() => rowsOf<Moeda>(moedasData));
const moedaByCode = once(() => byKey(allMoedas(), (moeda) => moeda.codigo));

/** The municipality of an IBGE code of seven digits. Source: `municipios.json`. */
export function municipioOf(codigoIbge: string): Municipio | undefined {
  return municipioByCode().get(codigoIbge);
}

/** A municipality as a sentence names it: by its code, and by its name where it has one. */
export function municipioInWords(codigoIbge: string): string {
  const municipio = municipioOf(codigoIbge);
  return municipio === undefined ? codigoIbge : `${codigoIbge} (${municipio.nome}/${municipio.uf})`;
}

/** All 5571 municipalities, by code. Source: `municipios.json`. */
export function municipios(): readonly Municipio[] {
  return allMunicipios();
}

/** The country of two capital letters. Source: `paises.json`. */
export function paisOf(iso2: string): Pais | undefined {
  return paisByCode().get(iso2);
}

/** All 250 countries, by code. Source: `paises.json`. */
export function paises(): readonly Pais[] {
  return allPaises();
}

/** The currency of three digits, inactive ones included. Source: `moedas.json`. */
export function moedaOf(codigo: string): Moeda | undefined {
  return moedaByCode().get(codigo);
}

/** All 163 currencies, by code. Source: `moedas.json`. */
export function moedas(): readonly Moeda[] {
  return allMoedas();
}

const allClassificacoes = once(() => rowsOf<Classificacao>(classificacaoData));
const classificacaoByCode = once(() => byKey(allClassificacoes(), (classificacao) => classificacao.codigo));
const allCsts = once(() => rowsOf<Cst>(cstData));
const cstByCode = once(() => byKey(allCsts(), (cst) => cst.codigo));
const allCreditos = once(() => rowsOf<CreditoPresumido>(creditoData));
const creditoByCode = once(() => byKey(allCreditos(), (credito) => credito.codigo));
const allIndicadores = once(() => rowsOf<Indicador>(indicadorData));
const indicadorByCode = once(() => byKey(allIndicadores(), (indicador) => indicador.codigo));
const allCorrelacoes = once(() => rowsOf<Correlacao>(correlacaoData));
const correlacoesByNbs = once(() => Map.groupBy(allCorrelacoes(), (correlacao) => correlacao.nbs));
const correlacoesBySubitem = once(() => Map.groupBy(allCorrelacoes(), (correlacao) => correlacao.subitem));
const allAliquotas = once(() => rowsOf<AliquotaIbsCbs>(aliquotasData));

/** The classification of a `cClassTrib`, whether for services or not. Source: `classificacao-tributaria.json`. */
export function classificacaoOf(cClassTrib: string): Classificacao | undefined {
  return classificacaoByCode().get(cClassTrib);
}

/** All 173 classifications, by code; 73 have `indNFSe`. Source: `classificacao-tributaria.json`. */
export function classificacoes(): readonly Classificacao[] {
  return allClassificacoes();
}

/** The CST of three digits. Source: `cst.json`. */
export function cstOf(cst: string): Cst | undefined {
  return cstByCode().get(cst);
}

/** All 18 CST, by code. Source: `cst.json`. */
export function csts(): readonly Cst[] {
  return allCsts();
}

/** The presumed credit of a `cCredPres`, whether for services or not. Source: `credito-presumido.json`. */
export function creditoPresumidoOf(cCredPres: string): CreditoPresumido | undefined {
  return creditoByCode().get(cCredPres);
}

/** All 13 presumed credits, by code; two have `indNFSe`. Source: `credito-presumido.json`. */
export function creditosPresumidos(): readonly CreditoPresumido[] {
  return allCreditos();
}

/** The operation indicator of a `cIndOp`, whether for services or not. Source: `indicador-operacao.json`. */
export function indicadorOf(cIndOp: string): Indicador | undefined {
  return indicadorByCode().get(cIndOp);
}

/** All 44 operation indicators, by code; 26 are in Anexo C. Source: `indicador-operacao.json`. */
export function indicadores(): readonly Indicador[] {
  return allIndicadores();
}

/** The combinations that Anexo VIII has for an NBS; 186 leaves have none. Source: `correlacao.json`. */
export function correlacoesOf(nbs: string): readonly Correlacao[] {
  return correlacoesByNbs().get(nbs) ?? [];
}

/** The combinations that Anexo VIII has for a subitem written `01.01`. Source: `correlacao.json`. */
export function correlacoesOfSubitem(subitem: string): readonly Correlacao[] {
  return correlacoesBySubitem().get(subitem) ?? [];
}

/** All 1514 combinations, by subitem. Source: `correlacao.json`. */
export function correlacoes(): readonly Correlacao[] {
  return allCorrelacoes();
}

/**
 * The rates that the program ships, by start, those not yet fixed included: the first import of the table by which notes are
 * judged (`../aliquotas-ibs-cbs.ts`). Source: `aliquotas-ibs-cbs.json`.
 */
export function aliquotasIbsCbs(): readonly AliquotaIbsCbs[] {
  return allAliquotas();
}

const allEventos = once(() => rowsOf<EventoNacional>(eventosData));
const eventoByTipo = once(() => byKey(allEventos(), (evento) => evento.tipoEvento));
const eventoByCode = once(() => byKey(allEventos(), (evento) => evento.codigoEvento));
const allMotivos = once(() => rowsOf<MotivoEvento>(motivosData));
const motivosByTipo = once(() => Map.groupBy(allMotivos(), (motivo) => motivo.tipoEvento));
const allCampos = once(() => rowsOf<CampoEvento>(camposData));
const camposByTipo = once(() => Map.groupBy(allCampos(), (campo) => campo.tipoEvento));
const allCompatibilidades = once(() => rowsOf<CompatibilidadeEvento>(compatibilidadeData));

/** The type of a slug. Source: `eventos.json`. */
export function eventoOf(tipoEvento: string): EventoNacional | undefined {
  return eventoByTipo().get(tipoEvento);
}

/** The type of a national code of six digits. Source: `eventos.json`. */
export function eventoOfCodigo(codigoEvento: string): EventoNacional | undefined {
  return eventoByCode().get(codigoEvento);
}

/** The sixteen types, by national code. Source: `eventos.json`. */
export function eventos(): readonly EventoNacional[] {
  return allEventos();
}

/** The options of a type, in schema order; none when it enumerates nothing. Source: `motivos-evento.json`. */
export function motivosOf(tipoEvento: TipoEvento): readonly MotivoEvento[] {
  return motivosByTipo().get(tipoEvento) ?? [];
}

/** All 38 options, by national code of their type. Source: `motivos-evento.json`. */
export function motivosEvento(): readonly MotivoEvento[] {
  return allMotivos();
}

/** The fields of a type, in the order of the schema; `xDesc` is always the first. Source: `campos-evento.json`. */
export function camposOf(tipoEvento: TipoEvento): readonly CampoEvento[] {
  return camposByTipo().get(tipoEvento) ?? [];
}

/** All 48 fields, by national code of their type. Source: `campos-evento.json`. */
export function camposEvento(): readonly CampoEvento[] {
  return allCampos();
}

/** The whole matrix, 25 rows by 24 columns. Source: `eventos-compatibilidade.json`. */
export function eventosCompatibilidade(): readonly CompatibilidadeEvento[] {
  return allCompatibilidades();
}
