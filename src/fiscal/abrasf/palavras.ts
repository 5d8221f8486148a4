/**
 * The texts of the law about a DPS, in the words of the RPS that the client sent. Names of the DPS become those of the model, and a
 * sentence that needs other names is left out. Codes whose numbers mean something else in the model (`tpRetISSQN` 2 is `IssRetido` 1) are
 * never translated.
 */
import { INF_DPS } from '../layout/dps.ts';
import { INF_NFSE_OWN } from '../layout/nfse.ts';
import { elementsOf, type Item } from '../layout/vocabulary.ts';
import { ownOf } from '../own.ts';

/** Names of the DPS with the element of the model, or with a description if the model has none. */
const NOMES: Readonly<Record<string, string>> = {
  cTribNac: 'código nacional do serviço',
  cTribMun: 'CodigoTributacaoMunicipio',
  cLocPrestacao: 'CodigoMunicipio do serviço',
  cLocEmi: 'município emissor',
  dCompet: 'DataEmissao',
  xDescServ: 'Discriminacao',
  vServ: 'ValorServicos',
  vDescIncond: 'DescontoIncondicionado',
  vDescCond: 'DescontoCondicionado',
  vDR: 'ValorDeducoes',
  vDedRed: 'ValorDeducoes',
  vRetCP: 'ValorInss',
  vRetIRRF: 'ValorIr',
  vRetCSLL: 'a soma de ValorPis, ValorCofins e ValorCsll',
  vBCPisCofins: 'BaseCalculoPisCofins',
  vPis: 'ValorPis',
  vCofins: 'ValorCofins',
  tpRetPisCofins: 'TipoRetencaoPisCofins',
  cObra: 'CodigoObra',
  'serv/obra': 'ConstrucaoCivil',
  idDocTec: 'Art',
  'prest/IM': 'Prestador/InscricaoMunicipal',
  'toma/IM': 'Tomador/IdentificacaoTomador/InscricaoMunicipal',
  'toma/CNPJ': 'Tomador/IdentificacaoTomador/CpfCnpj/Cnpj',
  'toma/CPF': 'Tomador/IdentificacaoTomador/CpfCnpj/Cpf',
  'toma/xNome': 'Tomador/RazaoSocial',
  'toma/email': 'Tomador/Contato/Email',
  'toma/fone': 'Tomador/Contato/Telefone',
  'toma/end': 'Tomador/Endereco',
  toma: 'Tomador',
  'interm/xNome': 'IntermediarioServico/RazaoSocial',
  'interm/IM': 'IntermediarioServico/InscricaoMunicipal',
  interm: 'IntermediarioServico',
  IBSCBS: 'ControleIBSCBS',
  nDPS: 'IdentificacaoRps/Numero',
};

/** Names of the DPS that clients of the extension of 2026 send as they are. */
const DA_EXTENSAO = new Set(['cNBS', 'CST', 'cClassTrib', 'cIndOp', 'inscImobFisc', 'nProcesso', 'cIntContrib']);

/** Paths of the extension that contain a name otherwise found only in the DPS. */
const DO_RPS = new Set(['DadosDPS/cTribNac']);

/** Names of groups that look like ordinary words. */
const GRUPOS = ['toma', 'prest', 'interm', 'subst', 'serv', 'infDPS', 'IBSCBS'];

const ESTRANGEIROS = new Set(
  [...namesOf(INF_DPS), ...namesOf(INF_NFSE_OWN)].filter(
    (name) => (/^[a-z]+[A-Z]/.test(name) || /^gI?[A-Z]/.test(name)) && !DA_EXTENSAO.has(name),
  ),
);

/** A path or a name within a text. */
const PALAVRA = /\/?[A-Za-z_][\w]*(?:\/[\w]+)*/g;

/** The sentences that can be said in the words of the model, in their order. */
export function frasesDoModelo(text: string): readonly string[] {
  return text
    .split(/(?<=[.;:])\s+(?=[A-ZÀ-Ý])/)
    .map(fraseOf)
    .filter((one) => one !== undefined);
}

/** Whether a text contains words that the clients of this port do not know. */
function isEstrangeira(text: string): boolean {
  return REST.test(text) || [...text.matchAll(PALAVRA)].some(([word]) => isForeign(word));
}

/** Words of the REST door: addresses, names of its bodies, marks of a document. */
const REST = /\/catalogo|\besperado\b|\bcorrecao\b|\bcampo\b|\bJSON\b|\bXML\b|\bPOST\b|[<>]|\b[a-z]+_[a-z_]+\b|\bDPS\b/;

function fraseOf(sentence: string): string | undefined {
  // A remark in brackets only explains, and can be left out.
  const plain = sentence.replace(/ \(([^()]*)\)/g, (all, inside: string) => (isSayable(inside) ? all : ''));
  const said = inWords(plain);
  return isEstrangeira(said) ? undefined : said;
}

function isSayable(text: string): boolean {
  return !isEstrangeira(inWords(text));
}

function inWords(text: string): string {
  return text
    .replace(PALAVRA, (word) => nameOf(word) ?? word)
    .replace(/\b(A|a|Da|da|Na|na|À|à|Uma|uma) DPS\b/g, (_all, article: string) => `${ARTIGOS[article]} RPS`)
    .replace(/\bDPS\b/g, 'RPS');
}

const ARTIGOS: Readonly<Record<string, string>> = {
  A: 'O',
  a: 'o',
  Da: 'Do',
  da: 'do',
  Na: 'No',
  na: 'no',
  À: 'Ao',
  à: 'ao',
  Uma: 'Um',
  uma: 'um',
};

/** The longest end of the path that has a name: `serv/cServ/cTribNac` is `cTribNac`. */
function nameOf(word: string): string | undefined {
  for (let steps = word.split('/'); steps.length > 0; steps = steps.slice(1)) {
    const found = ownOf(NOMES, steps.join('/'));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isForeign(word: string): boolean {
  return !DO_RPS.has(word) && word.split('/').some((step) => ESTRANGEIROS.has(step) || GRUPOS.includes(step));
}

function namesOf(items: readonly Item[]): readonly string[] {
  return elementsOf(items).flatMap((item) =>
    item.kind === 'leaf' ? [item.name] : [item.name, ...namesOf(item.items)],
  );
}
