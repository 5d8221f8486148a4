/**
 * The RPS of ABRASF 1.00 as one table, in the order of its schema. Each row has the shape of an element, and the codes of the model for its
 * absence and its malformation. The conversion to the DPS stands in `mapa.ts`.
 *
 * Elements are found by their local names, in any namespace and any order. An element that the table does not have is refused: a misspelt
 * deduction or taker, if skipped, would change the tax. Unknown elements are allowed only inside the groups of the extension of 2026. The
 * clients of that extension do not agree on the names. Whether a value is right is decided by the judge.
 */
import type { Elemento } from '../layout/tree.ts';
import { type Esquema, esquemaOf, listEstranhos } from './esquema.ts';

export type CampoRps = {
  /** Path below `InfRps`. */
  readonly path: string;
  readonly about: string;
  /** Code of the model for the missing element; an element without this code is optional. */
  readonly falta?: string;
  /** Code of the model for a malformed element, and the required shape. */
  readonly forma?: readonly [codigo: string, forma: RegExp];
  /** Another spelling, of the published schema or of the extension of 2026. */
  readonly alias?: string;
  /** The element belongs to the extension of 2026, not to ABRASF 1.00. */
  readonly extensao?: true;
  /** Zeros count as no value. */
  readonly zeroVazio?: true;
  /** The help for a malformed element, if its code alone does not say enough. */
  readonly ajuda?: string;
};

const MONEY = /^\d{1,15}(\.\d{1,2})?$/;
/** A percentage has two places, and a fraction therefore four; further zeros are allowed. */
const RATE = /^(?:0{1,3}(?:\.\d{1,4}0*)?|\d{1,3}(?:\.\d{1,2}0*)?)$/;
const PERCENT = /^\d{1,3}(\.\d{1,10})?$/;
/** An amount of the extension, whose writers give every number four places. */
const MONEY_0 = /^\d{1,15}(\.\d{1,2}0*)?$/;
const YES_NO = /^[12]$/;
const CODE_7 = /^\d{1,7}$/;
const V = 'Servico/Valores';
const ENDERECO = 'Tomador/Endereco';

export const CAMPOS_RPS: readonly CampoRps[] = [
  {
    path: 'IdentificacaoRps/Numero',
    about: 'Número do RPS, até 15 dígitos',
    falta: 'E11',
    forma: ['E96', /^0*[1-9]\d{0,14}$/],
  },
  {
    path: 'IdentificacaoRps/Serie',
    about: 'Série do RPS: só dígitos, até 5, porque a série da DPS não tem letras',
    falta: 'E150',
    forma: ['E97', /^\d{1,5}$/],
  },
  {
    path: 'IdentificacaoRps/Tipo',
    about: '1 RPS, 2 nota conjugada, 3 cupom',
    falta: 'E12',
    forma: ['E13', /^[123]$/],
  },
  {
    path: 'DataEmissao',
    about:
      'Data e hora da emissão do RPS, do município; com fuso (Z, -03:00) é um instante, e vale o dia dele no município',
    falta: 'E14',
    forma: ['E15', /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})?)?$/],
  },
  {
    path: 'NaturezaOperacao',
    about: '1 tributação no município, 2 fora, 3 isenção, 4 imune, 5 e 6 suspensa por decisão ou processo',
    falta: 'E3',
    forma: ['E144', /^[1-6]$/],
  },
  {
    path: 'RegimeEspecialTributacao',
    about: '1 microempresa municipal, 2 estimativa, 3 sociedade de profissionais, 4 cooperativa, 5 MEI, 6 ME ou EPP',
    forma: ['E145', /^[0-6]$/],
  },
  { path: 'OptanteSimplesNacional', about: '1 sim, 2 não', falta: 'E8', forma: ['E146', YES_NO] },
  { path: 'IncentivadorCultural', about: '1 sim, 2 não', falta: 'E9', forma: ['E147', YES_NO] },
  { path: 'Status', about: '1 normal; um RPS cancelado (2) não gera nota', falta: 'E148', forma: ['E68', /^1$/] },
  {
    path: 'RpsSubstituido/Numero',
    about: 'Número do RPS cuja nota esta substitui; zero é o mesmo que nada',
    forma: ['E96', /^0*[1-9]\d{0,14}$/],
    zeroVazio: true,
  },
  { path: 'RpsSubstituido/Serie', about: 'Série dele', forma: ['E97', /^\d{1,5}$/] },
  { path: 'RpsSubstituido/Tipo', about: 'Tipo dele', forma: ['E13', /^[123]$/] },
  { path: `${V}/ValorServicos`, about: 'Valor do serviço', falta: 'E98', forma: ['E100', MONEY] },
  { path: `${V}/ValorDeducoes`, about: 'Deduções da base', forma: ['E101', MONEY] },
  { path: `${V}/ValorPis`, about: 'PIS retido', forma: ['E103', MONEY] },
  { path: `${V}/ValorCofins`, about: 'COFINS retida', forma: ['E103', MONEY] },
  { path: `${V}/ValorInss`, about: 'Contribuição previdenciária retida', forma: ['E103', MONEY] },
  { path: `${V}/ValorIr`, about: 'Imposto de renda retido', forma: ['E103', MONEY] },
  { path: `${V}/ValorCsll`, about: 'CSLL retida', forma: ['E103', MONEY] },
  { path: `${V}/IssRetido`, about: '1 retido pelo tomador, 2 não', falta: 'E152', forma: ['E36', YES_NO] },
  { path: `${V}/ValorIss`, about: 'ISS declarado', forma: ['E153', MONEY] },
  { path: `${V}/ValorIssRetido`, about: 'ISS retido declarado', forma: ['E153', MONEY] },
  { path: `${V}/OutrasRetencoes`, about: 'Outras retenções', forma: ['E103', MONEY] },
  { path: `${V}/BaseCalculo`, about: 'Base declarada', forma: ['E100', MONEY] },
  {
    path: `${V}/Aliquota`,
    about: 'Alíquota: fração, 0.02 é 2%; de 1 em diante é percentual; até duas casas no percentual',
    forma: ['E160', RATE],
    ajuda: 'A alíquota leva até 2 casas no percentual: 2,79% é 0.0279, ou 2.79.',
  },
  { path: `${V}/ValorLiquidoNfse`, about: 'Valor líquido declarado', forma: ['E100', MONEY] },
  { path: `${V}/DescontoIncondicionado`, about: 'Desconto que reduz a base', forma: ['E102', MONEY] },
  { path: `${V}/DescontoCondicionado`, about: 'Desconto que reduz só o líquido', forma: ['E102', MONEY] },
  {
    path: `${V}/CSTPisCofins`,
    about: 'Situação tributária do PIS e da COFINS',
    forma: ['E103', /^(?:0?\d|49|5[0-6]|6[0-7]|7[0-5]|9[89])$/],
    extensao: true,
    ajuda: 'CSTPisCofins é um dos códigos do PIS e da COFINS, como 01.',
  },
  {
    path: `${V}/TipoRetencaoPisCofins`,
    about: 'O que foi retido: 0 nada, 3 PIS, COFINS e CSLL, 4 PIS e COFINS, e os outros do código nacional',
    forma: ['E103', /^\d$/],
    extensao: true,
    ajuda: 'TipoRetencaoPisCofins é de 0 a 9.',
  },
  { path: `${V}/BaseCalculoPisCofins`, about: 'Base do PIS e da COFINS', forma: ['E100', MONEY_0], extensao: true },
  { path: `${V}/AliqPis`, about: 'Alíquota do PIS', extensao: true },
  { path: `${V}/AliqCofins`, about: 'Alíquota da COFINS', extensao: true },
  ...(['Fed', 'Est', 'Mun'] as const).map((esfera) => ({
    path: `${V}/pTotTrib${esfera}`,
    about: `Total aproximado dos tributos ${{ Fed: 'federais', Est: 'estaduais', Mun: 'municipais' }[esfera]}, em percentual`,
    forma: ['E160', PERCENT] as const,
    extensao: true as const,
    ajuda: 'É um percentual, como 13.45.',
  })),
  { path: `${V}/ValorTotalRecebido`, about: 'Valor total recebido', extensao: true },
  {
    path: 'Servico/ItemListaServico',
    about: 'Item da lista da LC 116, como 1.01 ou 01.01',
    falta: 'E31',
    forma: ['E104', /^\d{1,2}\.?\d{2}(\.?\d{2})?$/],
  },
  { path: 'Servico/CodigoCnae', about: 'CNAE', forma: ['E105', CODE_7] },
  { path: 'Servico/CodigoTributacaoMunicipio', about: 'Código municipal do serviço', forma: ['E106', /^.{1,20}$/su] },
  { path: 'Servico/Discriminacao', about: 'Descrição do serviço', falta: 'E41', forma: ['E107', /^.{1,2000}$/su] },
  {
    path: 'Servico/CodigoMunicipio',
    about: 'Município da prestação (código IBGE)',
    falta: 'E111',
    forma: ['E108', CODE_7],
    alias: 'Servico/MunicipioPrestacaoServico',
  },
  { path: 'Servico/cNBS', about: 'Código NBS', extensao: true },
  { path: 'Servico/xDescServ', about: 'Descrição do serviço, outra vez', extensao: true },
  { path: 'Servico/cIntContrib', about: 'Código do serviço para o contribuinte', extensao: true },
  { path: 'Prestador/Cnpj', about: 'CNPJ do prestador', falta: 'E46', forma: ['E149', /^[0-9A-Z]{14}$/] },
  { path: 'Prestador/InscricaoMunicipal', about: 'Inscrição municipal', forma: ['E158', /^.{1,15}$/su] },
  {
    path: 'Tomador/IdentificacaoTomador/CpfCnpj/Cpf',
    about: 'CPF do tomador; zeros quando não informado',
    forma: ['E155', /^\d{11}$/],
  },
  {
    path: 'Tomador/IdentificacaoTomador/CpfCnpj/Cnpj',
    about: 'CNPJ do tomador; zeros quando não informado',
    forma: ['E155', /^[0-9A-Z]{14}$/],
  },
  {
    path: 'Tomador/IdentificacaoTomador/InscricaoMunicipal',
    about: 'Inscrição municipal do tomador',
    forma: ['E83', /^.{1,15}$/su],
  },
  { path: 'Tomador/RazaoSocial', about: 'Nome do tomador', forma: ['E117', /^.{1,115}$/su] },
  { path: `${ENDERECO}/Endereco`, about: 'Logradouro', forma: ['E119', /^.{1,125}$/su] },
  { path: `${ENDERECO}/Numero`, about: 'Número', forma: ['E120', /^.{1,10}$/su] },
  { path: `${ENDERECO}/Complemento`, about: 'Complemento', forma: ['E121', /^.{1,60}$/su] },
  { path: `${ENDERECO}/Bairro`, about: 'Bairro', forma: ['E122', /^.{1,60}$/su] },
  { path: `${ENDERECO}/CodigoMunicipio`, about: 'Município (código IBGE)', forma: ['E109', CODE_7] },
  { path: `${ENDERECO}/Uf`, about: 'Unidade da federação', forma: ['E124', /^[A-Za-z]{2}$/] },
  { path: `${ENDERECO}/Cep`, about: 'CEP', forma: ['E125', /^\d{1,8}$/] },
  { path: 'Tomador/Contato/Telefone', about: 'Telefone', forma: ['E127', /^.{1,20}$/su] },
  { path: 'Tomador/Contato/Email', about: 'E-mail', forma: ['E126', /^.{1,80}$/su] },
  { path: 'IntermediarioServico/RazaoSocial', about: 'Nome do intermediário', forma: ['E128', /^.{1,115}$/su] },
  { path: 'IntermediarioServico/CpfCnpj/Cpf', about: 'CPF do intermediário', forma: ['E154', /^\d{11}$/] },
  { path: 'IntermediarioServico/CpfCnpj/Cnpj', about: 'CNPJ do intermediário', forma: ['E154', /^[0-9A-Z]{14}$/] },
  { path: 'IntermediarioServico/InscricaoMunicipal', about: 'Inscrição dele', forma: ['E112', /^.{1,15}$/su] },
  {
    path: 'ConstrucaoCivil/CodigoObra',
    about: 'Número da obra (CNO ou CEI)',
    forma: ['E129', /^.{1,15}$/su],
    alias: 'ContrucaoCivil/CodigoObra',
  },
  {
    path: 'ConstrucaoCivil/Art',
    about: 'Anotação de responsabilidade técnica',
    forma: ['E130', /^.{1,15}$/su],
    alias: 'ContrucaoCivil/Art',
  },
  { path: 'DadosDPS/cTribNac', about: 'Código de tributação nacional', extensao: true },
  { path: 'DadosObra/inscImobFisc', about: 'Inscrição imobiliária da obra', extensao: true },
  { path: 'ExigibilidadeSuspensa/nProcesso', about: 'Processo da suspensão', extensao: true },
  { path: 'ControleIBSCBS/CST', about: 'CST do IBS e da CBS', extensao: true },
  { path: 'ControleIBSCBS/cClassTrib', about: 'Classificação tributária do IBS e da CBS', extensao: true },
  { path: 'ControleIBSCBS/cIndOp', about: 'Indicador da operação', extensao: true },
  { path: 'DataCompetencia', about: 'Competência, quando não é o dia da emissão', extensao: true },
];

/** Groups of the extension of 2026: known elements inside them are read, and unknown ones are skipped. */
export const GRUPOS_DA_EXTENSAO = [
  'DadosDPS',
  'DadosObra',
  'ComercioExterior',
  'ExigibilidadeSuspensa',
  'BeneficioMunicipal',
  'ReembolsoRepasse',
  'Destinatario',
  'ControleIBSCBS',
  'IBSCBS',
] as const;

/** The schema of an `InfRps`. */
const ESQUEMA_RPS: Esquema = esquemaOf([
  ...CAMPOS_RPS.flatMap(({ path, alias, extensao }) => [
    { path, ...(extensao ? { qualquerCaixa: true } : {}) },
    ...(alias === undefined ? [] : [{ path: alias }]),
  ]),
  ...GRUPOS_DA_EXTENSAO.map((path) => ({ path, qualquerCaixa: true, aberto: true })),
]);

/** One fault by the model. `path` is below `InfRps`; `detalhe` is given if the code alone does not say enough. */
export type FaltaRps = {
  readonly codigo: string;
  readonly path: string;
  readonly encontrado?: string;
  readonly detalhe?: string;
  readonly ajuda?: string;
};

/** The texts of one RPS by path, without surrounding white space; an empty element counts as absent. */
export type Rps = ReadonlyMap<string, string>;

/** Reads an `InfRps`. The faults are first the elements that the table does not have, then missing and malformed ones in table order. */
export function readRps(infRps: Elemento): { readonly rps: Rps; readonly faltas: readonly FaltaRps[] } {
  const rps = new Map<string, string>();
  const faltas: FaltaRps[] = listEstranhos(infRps, ESQUEMA_RPS).map((one) => ({ codigo: 'E160', ...one }));
  for (const { path, alias, falta, forma, extensao, ajuda, zeroVazio } of CAMPOS_RPS) {
    const found = (alias === undefined ? [path] : [path, alias])
      .flatMap((one) => textsAt(infRps, one, extensao))
      .filter((one) => !zeroVazio || !/^0+$/.test(one));
    const [text] = found;
    if (text === undefined) {
      if (falta !== undefined) faltas.push({ codigo: falta, path });
      continue;
    }
    rps.set(path, text);
    if (found.length > 1) faltas.push({ codigo: 'E160', path, encontrado: `${found.length} elementos` });
    if (forma === undefined || forma[1].test(text)) continue;
    faltas.push({ codigo: forma[0], path, encontrado: text, ...(ajuda === undefined ? {} : { ajuda }) });
  }
  return { rps, faltas };
}

/** Senders spell the names of the extension differently: upper and lower case are equal. */
function textsAt(element: Elemento, path: string, anyCase = false): readonly string[] {
  let places: readonly Elemento[] = [element];
  for (const step of path.split('/')) {
    const wanted = anyCase ? step.toLowerCase() : step;
    places = places.flatMap(({ children }) =>
      children.filter(({ name }) => (anyCase ? name.toLowerCase() : name) === wanted),
    );
  }
  return places.map(({ text }) => text.trim()).filter((text) => text !== '');
}

/** Elements that the NFS-e has no place for, or a different one. They are kept with the RPS and returned in its note unchanged. */
const GUARDADOS = [
  'DataEmissao',
  'IncentivadorCultural',
  `${V}/ValorPis`,
  `${V}/ValorCofins`,
  `${V}/ValorCsll`,
  `${V}/OutrasRetencoes`,
  'Servico/CodigoCnae',
  'Servico/CodigoTributacaoMunicipio',
  'Tomador/RazaoSocial',
] as const;

/** The values of {@link GUARDADOS} in an RPS. */
export type Guardado = { readonly [path in (typeof GUARDADOS)[number]]?: string };

export function guardadoOf(rps: Rps): Guardado {
  return Object.fromEntries(GUARDADOS.flatMap((path) => (rps.has(path) ? [[path, rps.get(path)!]] : [])));
}

/** The identification of an RPS among those of its provider. */
export type IdentificacaoRps = { readonly numero: string; readonly serie: string; readonly tipo: string };

/** Number and series without leading zeros. */
export function identificacaoOf(rps: Rps, base = 'IdentificacaoRps'): IdentificacaoRps | undefined {
  const [numero, serie, tipo] = ['Numero', 'Serie', 'Tipo'].map((name) => rps.get(`${base}/${name}`));
  if (numero === undefined || serie === undefined) return undefined;
  return { numero: bare(numero), serie: bare(serie), tipo: tipo ?? '1' };
}

/** Digits without leading zeros. */
export function bare(digits: string): string {
  return digits.replace(/^0+(?=.)/, '');
}
