/**
 * The messages of ABRASF 1.00 that this port sends: code, text and correction, and the choice of one for each fault.
 *
 * A fault that the model has a code for is told by that code, in the words of the model. Any other fault keeps its own code. E0310 is sent
 * as `0310`, because the model has room for four characters. Its own codes run from E1 to E161. E802 is sent as `E802`. The two families
 * are thus never mixed (D-162). No message contains a name of the DPS or of the REST door (`palavras.ts`).
 */

import { errorOf } from '../errors.ts';
import type { Fault } from '../fault.ts';
import { INF_DPS } from '../layout/dps.ts';
import { elementsOf, type Item } from '../layout/vocabulary.ts';
import { upperFirst } from '../words.ts';
import { CORRECOES, DITOS, type Dito } from './ditos.ts';
import type { Divergencia } from './divergencias.ts';
import type { Impedimento } from './impedimentos.ts';
import { linhaOf } from './mapa.ts';
import { frasesDoModelo } from './palavras.ts';
import type { FaltaRps, IdentificacaoRps, Rps } from './rps.ts';
import { codigoNacionalOf } from './rps-values.ts';

/** One `MensagemRetorno`. */
export type Mensagem = { readonly codigo: string; readonly mensagem: string; readonly correcao: string | undefined };

/** Validation of a lot stops after so many messages (E49). */
export const MENSAGENS_MAX = 50;

/** The limit of the schema. */
const TEXT_MAX = 200;
/** The length of a quotation from the sent document. */
const FOUND_MAX = 40;

/** The messages of the model, in our words. */
export const CODIGOS: Readonly<Record<string, readonly [mensagem: string, correcao: string]>> = {
  E1: ['A assinatura não confere.', 'Assine o lote, cada RPS ou o pedido com RSA-SHA256 e envie os bytes assinados.'],
  E3: ['Falta a natureza da operação.', 'Informe NaturezaOperacao, de 1 a 6.'],
  E4: ['Este RPS não foi enviado.', 'Envie o RPS em um lote, ou confira número, série e tipo.'],
  E7: [
    'A nota do RPS substituído já foi substituída ou cancelada.',
    'Confira RpsSubstituido; o que já não vale não se substitui: envie o RPS sem ele.',
  ],
  E8: ['Falta dizer se o prestador é optante do Simples Nacional.', 'Informe 1 (sim) ou 2 (não).'],
  E9: ['Falta o indicador de incentivador cultural.', 'Informe 1 (sim) ou 2 (não).'],
  E10: ['Este RPS já foi informado: o prestador já usou este número nesta série.', 'Use um número novo.'],
  E11: ['Falta o número do RPS.', 'Informe o número, até 15 dígitos.'],
  E12: ['Falta o tipo do RPS.', 'Informe 1 (RPS), 2 (nota conjugada) ou 3 (cupom).'],
  E13: ['O tipo do RPS é inválido.', 'Use 1 (RPS), 2 (nota conjugada) ou 3 (cupom).'],
  E14: ['Falta a data de emissão do RPS.', 'Informe a data e a hora, AAAA-MM-DDThh:mm:ss.'],
  E15: ['A data de emissão do RPS é inválida.', 'Informe a data e a hora, AAAA-MM-DDThh:mm:ss.'],
  E16: ['A data do RPS é posterior a hoje.', 'Corrija DataEmissao, ou DataCompetencia.'],
  E18: ['O valor do serviço deve ser maior que zero.', 'Corrija ValorServicos.'],
  E19: ['As deduções passam do valor do serviço.', 'Corrija ValorDeducoes.'],
  E21: ['Os descontos passam do valor do serviço.', 'Corrija os descontos.'],
  E30: ['O item da lista de serviços não existe.', 'Confira ItemListaServico na lista da LC 116, como 01.01.'],
  E31: ['Falta o item da lista de serviços.', 'Informe ItemListaServico, como 01.01.'],
  E35: ['O código de tributação do município não existe.', 'Confira CodigoTributacaoMunicipio com a prefeitura.'],
  E36: ['IssRetido é inválido.', 'Use 1 (sim) ou 2 (não).'],
  E37: ['Nesta operação o ISS não se retém.', 'Use IssRetido 2, ou corrija a natureza da operação.'],
  E38: ['Neste regime especial o ISS não se retém.', 'Use IssRetido 2, ou corrija RegimeEspecialTributacao.'],
  E41: ['Falta a descrição do serviço.', 'Informe Discriminacao.'],
  E42: ['O município, da prestação ou da nota, é inválido.', 'Use o código IBGE, 7 dígitos.'],
  E43: ['A inscrição municipal do prestador não foi encontrada.', 'Confira a inscrição com a prefeitura.'],
  E44: ['O CNPJ do prestador é inválido.', 'Confira os dígitos do CNPJ.'],
  E45: [
    'O CNPJ do prestador não está cadastrado neste município.',
    'Confira o CNPJ e o endereço de envio, ou procure a prefeitura.',
  ],
  E46: ['Falta o CNPJ do prestador.', 'Informe Prestador/Cnpj, 14 posições.'],
  E47: ['O CPF ou CNPJ do tomador é inválido.', 'Confira os dígitos; sem documento, envie zeros.'],
  E49: ['Há inconsistências demais: a conferência para em 50.', 'Corrija as que foram ditas e envie de novo.'],
  E50: ['A inscrição municipal do prestador é inválida.', 'Confira a inscrição, até 15 posições.'],
  E51: ['A inscrição municipal do tomador é inválida.', 'Confira a inscrição, ou retire o elemento.'],
  E56: [
    'O endereço do tomador está incompleto.',
    'Informe logradouro, número, bairro, município e CEP, ou nenhum deles.',
  ],
  E59: ['Falta o município do tomador.', 'Informe CodigoMunicipio do endereço.'],
  E60: ['O município do tomador não é do Brasil.', 'Use o código IBGE; tomador no exterior se emite pela API REST.'],
  E62: ['O CEP do tomador é inválido.', 'Informe 8 dígitos.'],
  E63: ['Falta o nome do intermediário.', 'Informe RazaoSocial.'],
  E64: ['A inscrição municipal do intermediário é inválida.', 'Confira a inscrição, ou retire o elemento.'],
  E66: ['O CPF ou CNPJ do intermediário é inválido.', 'Confira os dígitos.'],
  E67: ['O código da obra é inválido.', 'Confira CodigoObra e a inscrição imobiliária.'],
  E68: ['A situação do RPS é inválida.', 'Envie Status 1; um RPS cancelado não gera nota.'],
  E69: ['O número de RPS não é o que QuantidadeRps diz.', 'Acerte QuantidadeRps com a lista.'],
  E70: ['A inscrição municipal do lote não é a do RPS.', 'Um lote é de um só prestador.'],
  E71: ['O RPS aparece duas vezes no lote.', 'Cada número de uma série aparece uma vez.'],
  E72: ['QuantidadeRps está malformada.', 'Informe até 4 dígitos.'],
  E76: ['O RPS substituído não foi encontrado, ou não tem nota.', 'Confira número, série e tipo do RPS substituído.'],
  E77: ['Falta o número da nota.', 'Informe Numero.'],
  E78: ['O prestador não tem nota com este número.', 'Confira o número e o CNPJ.'],
  E79: ['A nota já está cancelada.', 'Nada a fazer.'],
  E83: ['A inscrição municipal do tomador está malformada.', 'Informe até 15 posições.'],
  E86: ['O protocolo não foi encontrado.', 'Confira o protocolo, o CNPJ e o município do endereço.'],
  E88: ['Falta o número do lote.', 'Informe NumeroLote, até 15 dígitos.'],
  E89: ['Nenhuma nota foi emitida para este RPS.', 'Consulte o lote em que ele foi enviado.'],
  E90: ['O número do RPS é inválido.', 'Informe até 15 dígitos, sem letras.'],
  E92: ['O RPS foi recebido e ainda não foi processado.', 'Consulte de novo em instantes.'],
  E93: ['A série do RPS é inválida.', 'Use só dígitos, até 5.'],
  E96: ['O número do RPS está malformado.', 'Informe até 15 dígitos.'],
  E97: ['A série do RPS está malformada.', 'Use só dígitos, até 5: a série da nota nacional não tem letras.'],
  E98: ['Falta o valor do serviço.', 'Informe ValorServicos.'],
  E99: ['A retenção passa do valor do serviço.', 'Corrija o valor retido.'],
  E100: ['O valor está malformado.', 'Informe até 15 dígitos e duas casas, como 1000.00.'],
  E101: ['As deduções estão malformadas.', 'Informe até 15 dígitos e duas casas, como 1000.00.'],
  E102: ['Os descontos estão malformados.', 'Informe até 15 dígitos e duas casas, como 1000.00.'],
  E103: ['A retenção está malformada.', 'Informe até 15 dígitos e duas casas, como 1000.00.'],
  E104: ['O item da lista de serviços está malformado.', 'Informe como 01.01.'],
  E105: ['O CNAE está malformado.', 'Informe até 7 dígitos.'],
  E106: ['O código de tributação do município está malformado.', 'Informe até 20 posições.'],
  E107: ['A descrição do serviço está malformada.', 'Informe até 2000 caracteres.'],
  E108: ['O município da prestação está malformado.', 'Informe o código IBGE, 7 dígitos.'],
  E109: ['O município do tomador está malformado.', 'Informe o código IBGE, 7 dígitos.'],
  E111: ['Falta o município da prestação.', 'Informe CodigoMunicipio do serviço.'],
  E112: ['A inscrição municipal do intermediário está malformada.', 'Informe até 15 posições.'],
  E113: ['Falta o número do endereço do tomador.', 'Informe Numero, ou S/N.'],
  E114: ['Falta o bairro do tomador.', 'Informe Bairro.'],
  E117: ['O nome do tomador está malformado.', 'Informe até 115 caracteres.'],
  E118: ['Falta o nome do tomador.', 'Informe RazaoSocial.'],
  E119: ['O logradouro do tomador está malformado.', 'Informe até 125 caracteres.'],
  E120: ['O número do endereço do tomador está malformado.', 'Informe até 10 caracteres.'],
  E121: ['O complemento do endereço do tomador está malformado.', 'Informe até 60 caracteres.'],
  E122: ['O bairro do tomador está malformado.', 'Informe até 60 caracteres.'],
  E123: ['Falta a alíquota.', 'Informe Aliquota, como 0.02.'],
  E124: ['A UF do tomador está malformada.', 'Informe duas letras.'],
  E125: ['O CEP do tomador está malformado.', 'Informe 8 dígitos.'],
  E126: ['O e-mail do tomador está malformado.', 'Informe até 80 caracteres.'],
  E127: ['O telefone do tomador está malformado.', 'Informe até 11 dígitos.'],
  E128: ['O nome do intermediário está malformado.', 'Informe até 115 caracteres.'],
  E129: ['O código da obra está malformado.', 'Informe até 15 posições.'],
  E130: ['A ART está malformada.', 'Informe até 15 posições.'],
  E131: ['A data inicial está malformada.', 'Informe AAAA-MM-DD.'],
  E132: ['A data final está malformada.', 'Informe AAAA-MM-DD.'],
  E133: ['A data final é posterior a hoje.', 'Corrija DataFinal.'],
  E134: ['A data final é anterior à inicial.', 'Corrija o período.'],
  E135: ['O período passa de um ano.', 'Consulte um ano de cada vez.'],
  E136: ['O número da nota está malformado.', 'Informe até 15 dígitos.'],
  E138: ['O certificado de quem pede não é do prestador.', 'Use o certificado do próprio prestador.'],
  E141: ['Falta a inscrição municipal do prestador.', 'Informe InscricaoMunicipal.'],
  E142: ['A inscrição municipal não é deste CNPJ.', 'Confira a inscrição com a prefeitura, ou retire o elemento.'],
  E144: [
    'A natureza da operação não é aceita.',
    'Use de 1 a 6; o que falta é da correlação do município, ou da API REST.',
  ],
  E145: ['O regime especial de tributação é inválido.', 'Use de 1 a 6, ou retire o elemento.'],
  E146: ['O indicador do Simples Nacional é inválido.', 'Use 1 (sim) ou 2 (não).'],
  E147: ['O indicador de incentivador cultural é inválido.', 'Use 1 (sim) ou 2 (não).'],
  E148: ['Falta a situação do RPS.', 'Informe Status 1.'],
  E149: ['O CNPJ do prestador está malformado.', 'Informe 14 posições, sem pontuação.'],
  E150: ['Falta a série do RPS.', 'Informe a série; 00000 quando não há.'],
  E151: ['Falta o número de RPS do lote.', 'Informe QuantidadeRps.'],
  E152: ['Falta dizer se o ISS é retido.', 'Informe IssRetido, 1 (sim) ou 2 (não).'],
  E153: ['O ISS declarado não é aceito.', 'Informe até 15 dígitos e duas casas, como 1000.00.'],
  E154: ['O CPF ou CNPJ do intermediário está malformado.', 'Informe 11 ou 14 posições, sem pontuação.'],
  E155: ['O CPF ou CNPJ do tomador está malformado.', 'Informe 11 ou 14 posições, sem pontuação.'],
  E156: ['O prestador não está autorizado a emitir.', 'Procure a prefeitura.'],
  E158: ['A inscrição municipal do prestador está malformada.', 'Informe até 15 posições.'],
  E159: ['O CNPJ do lote não é o do RPS.', 'Um lote é de um só prestador.'],
  E160: ['O documento está fora do esquema.', 'Confira o documento com a descrição do serviço.'],
  A2: ['Este serviço não admite deduções.', 'Retire ValorDeducoes.'],
  A8: ['O e-mail do tomador é inválido.', 'Corrija o e-mail, ou retire o elemento.'],
};

/** Faults that have the same code of the model in every place. */
const BY_CODE: Readonly<Record<string, string>> = {
  E101: 'E45',
  E102: 'E156',
  E103: 'E142',
  E0014: 'E10',
  E0015: 'E16',
  E0080: 'E44',
  E0096: 'E44',
  E0431: 'E21',
  E0432: 'E21',
  E0580: 'E37',
  E0583: 'E37',
  E0588: 'E38',
  E0699: 'E99',
  E0700: 'E99',
  E0701: 'E99',
  E901: 'E1',
  E902: 'E1',
  E903: 'E1',
  E904: 'E1',
  E905: 'E1',
  E906: 'E138',
  E9003: 'E1',
  E9006: 'E1',
  E9007: 'E138',
  E201: 'E160',
  E302: 'E79',
};

/** Codes of signatures and certificates. */
const ASSINATURA = new Set(Object.keys(BY_CODE).filter((codigo) => /^E90/.test(codigo)));

/** Faults of one element: the element is missing, or its value is wrong. Any other fault is of a rule, and keeps its code. */
const MISSING = new Set(['E002', 'E202', 'E0188', 'E0191', 'E0193', 'E0235']);
const WRONG = new Set(['E0001', 'E0002', 'E0003', 'E401', 'E402', 'E403', 'E502']);

/** The message of a code of the model. `sobre`: the name of the one among several, at the start of the message. */
export function mensagemOf(codigo: string, sobre = '', detalhe = ''): Mensagem {
  const found = CODIGOS[codigo];
  if (found === undefined) throw new RangeError(`${codigo} is no message of the table`);
  const [mensagem, correcao] = found;
  return { codigo, mensagem: cutText(`${prefixOf(sobre)}${mensagem}${detalhe && ` ${detalhe}`}`), correcao };
}

/** The message of an impediment, for an RPS that no DPS can be made of. */
export function mensagemOfImpedimento({ codigo, detalhe, correcao }: Impedimento, sobre: string): Mensagem {
  const told = mensagemOf(codigo, sobre, detalhe);
  return correcao === undefined ? told : { ...told, correcao };
}

/** The message of a difference between an RPS and its note. */
export function mensagemOfDivergencia({ codigo, mensagem, correcao }: Divergencia, sobre: string): Mensagem {
  return mensagemCut(codigo, `${prefixOf(sobre)}${mensagem}`, correcao);
}

/** The message of a fault that the table of the RPS found. */
export function mensagemOfFalta({ codigo, path, encontrado, detalhe, ajuda }: FaltaRps, sobre: string): Mensagem {
  const where = encontrado === undefined ? `(${path})` : `(${path}: ${encontrado.slice(0, FOUND_MAX)})`;
  const mensagem = mensagemOf(codigo, sobre, detalhe ?? where);
  return ajuda === undefined ? mensagem : { ...mensagem, correcao: ajuda };
}

/**
 * A fault in the terms of the model: of a signature, of a request, or of the DPS made from an RPS. `rps`: the sent RPS, so that the message
 * names an element that was sent.
 */
export function mensagemOfFault(fault: Fault, sobre = '', rps?: Rps): Mensagem {
  const { codigo, xpath, encontrado, chave_acesso } = fault;
  const below = pathInDps(xpath);
  const linha = linhaAt(xpath);
  const path = rpsPathOf(fault, rps);
  if (ASSINATURA.has(codigo)) return ofSignature(fault, sobre);
  if (SEM_ALIQUOTA.has(codigo)) return ofAliquota(fault, sobre);
  const dito = unknownService(fault, rps) ?? DITOS[`${codigo} ${below}`] ?? DITOS[codigo] ?? withoutBase(codigo, rps);
  const place = dito?.[3] ?? path;
  const where = place === undefined ? '' : `(${place}${showFound(place, encontrado, rps)})`;
  if (dito !== undefined) {
    const [own, mensagem, correcao] = dito;
    return mensagemCut(own, `${prefixOf(sobre)}${mensagem} ${where}`, correcao);
  }
  const isLatin = WRONG.has(codigo) && LATINOS.has(below);
  const foreign = isLatin && place !== undefined ? foreignIn(rps?.get(place) ?? '') : undefined;
  const ofModel = registrationCode(fault) ?? codeOf(codigo, linha);
  if (ofModel === undefined) return ofOwnCode(fault, sobre, path);
  if (foreign !== undefined) return { ...mensagemOf(ofModel, sobre, `(${place}) ${foreign}`), correcao: LATINO };
  return mensagemOf(ofModel, sobre, chave_acesso === undefined ? where : `A nota é a de chave ${chave_acesso}.`);
}

/** The element of an RPS that a fault of its DPS is about; undefined if the DPS takes the value from no element. */
export function rpsPathOf({ codigo, xpath }: Fault, rps?: Rps): string | undefined {
  const linha = linhaAt(xpath);
  // A wrong value stands in the RPS; a missing one does not.
  const isThere = linha?.dps === pathInDps(xpath) && !MISSING.has(codigo);
  return (isThere ? linha?.rps.find((one) => rps?.has(one)) : undefined) ?? linha?.rps[0];
}

const linhaAt = (xpath: string): ReturnType<typeof linhaOf> => (xpath.startsWith('/DPS') ? linhaOf(xpath) : undefined);

const pathInDps = (xpath: string): string => xpath.replace(/^\/DPS\/infDPS\/?/, '').replace(/\[\d+\]/g, '');

/** Elements of the DPS that accept Latin-1 characters only. */
const LATINOS: ReadonlySet<string> = new Set(latinPaths(INF_DPS));

function latinPaths(items: readonly Item[], above = ''): readonly string[] {
  return elementsOf(items).flatMap((item) => {
    const path = `${above}${item.name}`;
    if (item.kind === 'group') return latinPaths(item.items, `${path}/`);
    return item.type.latin ? [path] : [];
  });
}

const LATINO =
  'Use só o alfabeto latino (Latin-1): hífen em lugar de travessão, aspas retas, três pontos, EUR por extenso.';

/** The first character that the national reception rejects, its place, and the number of others; line breaks do not count. */
function foreignIn(text: string): string | undefined {
  const found = [...text].flatMap((character, place) => (character > '\u00ff' ? [{ character, place }] : []));
  const [first, ...others] = found;
  if (first === undefined) return undefined;
  const more = others.length === 0 ? '' : ` (e mais ${others.length} adiante)`;
  return `Na posição ${first.place + 1} está o caractere ${first.character}, que não é aceito${more}.`;
}

function mensagemCut(codigo: string, mensagem: string, correcao: string): Mensagem {
  return { codigo, mensagem: cutText(mensagem.trim()), correcao: cutText(correcao) };
}

/** The value that was found, in its sent spelling. */
function showFound(path: string, encontrado: string | undefined, rps: Rps | undefined): string {
  const sent = rps === undefined ? encontrado : rps.get(path);
  return sent === undefined || sent.length > FOUND_MAX ? '' : `: ${sent}`;
}

/** The text of a signature fault is ours: it explains how to sign, which the code of the model does not. */
function ofSignature({ codigo, mensagem }: Fault, sobre: string): Mensagem {
  const ofModel = BY_CODE[codigo]!;
  const said = frasesDoModelo(mensagem).join(' ') || CODIGOS[ofModel]![0];
  const { first, rest } = splitSentence(`${prefixOf(sobre)}${said}`);
  return { codigo: ofModel, mensagem: first, correcao: cutText(rest || CODIGOS[ofModel]![1]) };
}

/** No rate is known: only the law says which rates there are and how they differ. */
const SEM_ALIQUOTA: ReadonlySet<string> = new Set(['E0619', 'E0640']);

function ofAliquota({ mensagem }: Fault, sobre: string): Mensagem {
  const inElements = mensagem.replaceAll('em pAliq', 'em Aliquota (como 0.02)').replaceAll('pAliq', 'Aliquota');
  const { first, rest } = splitSentence(`${prefixOf(sobre)}${frasesDoModelo(inElements).join(' ')}`);
  return { codigo: 'E123', mensagem: first, correcao: cutText(rest) };
}

/** Deductions and discounts that together leave no base; the message names those that were sent. */
function withoutBase(codigo: string, rps: Rps | undefined): Dito | undefined {
  if (codigo !== 'E0427') return undefined;
  const [deducoes, desconto] = ['ValorDeducoes', 'DescontoIncondicionado'].map((name) =>
    /[1-9]/.test(rps?.get(`Servico/Valores/${name}`) ?? ''),
  );
  const told = desconto && !deducoes ? 'E21' : 'E19';
  if (desconto && deducoes) {
    return [
      told,
      'As deduções e o desconto passam do valor do serviço.',
      'Corrija ValorDeducoes ou DescontoIncondicionado.',
      'Servico/Valores/ValorDeducoes',
    ];
  }
  return [told, ...CODIGOS[told]!, `Servico/Valores/${told === 'E21' ? 'DescontoIncondicionado' : 'ValorDeducoes'}`];
}

/** A national code that was sent as such and does not exist: the item beside it may be right. */
function unknownService({ codigo, xpath }: Fault, rps: Rps | undefined): Dito | undefined {
  const isSent = rps !== undefined && codigoNacionalOf(rps) !== undefined;
  if (!(codigo === 'E002' || WRONG.has(codigo)) || !isSent || !xpath.endsWith('/serv/cServ/cTribNac')) return undefined;
  return [
    'E30',
    'O código nacional do serviço não existe.',
    'Corrija DadosDPS/cTribNac, ou retire-o: vale então o item.',
    'DadosDPS/cTribNac',
  ];
}

/** A fault that the model has no code for: its own code, and the part of its text that suits an RPS. */
function ofOwnCode({ codigo, mensagem }: Fault, sobre: string, path: string | undefined): Mensagem {
  const frases = frasesDoModelo(mensagem);
  const known = errorOf(codigo);
  const own = ownCode(codigo);
  const said = frases.length > 0 ? frases : [TITULO];
  const where = path === undefined ? '' : `(${path}) `;
  // The whole code is the key of the public table.
  const named = own === codigo ? '' : `${codigo} `;
  const { first, rest } = splitSentence(`${prefixOf(sobre)}${named}${where}${said.join(' ')}`);
  const help =
    CORRECOES[codigo] ||
    rest ||
    frasesDoModelo(known?.comoResolver ?? '').join(' ') ||
    `Corrija ${path ?? 'o documento'}, ou emita pela API REST.`;
  return { codigo: own, mensagem: first, correcao: cutText(help) };
}

const TITULO = 'Uma regra nacional não aceita o que o RPS diz.';

/** The name of one RPS among many in a message. */
export function rpsNamed({ numero, serie, tipo }: IdentificacaoRps): string {
  return `RPS ${numero}, série ${serie}, tipo ${tipo}`;
}

/** The model has its own codes for the faults that prevent the registration of a provider in the sandbox (E101). */
function registrationCode({ codigo, detalhes, xpath }: Fault): string | undefined {
  if (codigo !== 'E101') return undefined;
  if (xpath.endsWith('/cLocEmi')) return 'E42';
  return detalhes === 'documento_invalido' ? 'E44' : undefined;
}

function codeOf(codigo: string, linha: ReturnType<typeof linhaOf>): string | undefined {
  const known = BY_CODE[codigo];
  if (known !== undefined) return known;
  const told = MISSING.has(codigo) ? linha?.falta : WRONG.has(codigo) ? linha?.errado : undefined;
  // The codes E101 to E601 of the REST door mean something else in the model.
  return told ?? (MISSING.has(codigo) || WRONG.has(codigo) || /^E[1-6]\d\d$/.test(codigo) ? 'E160' : undefined);
}

/** Four characters, outside the codes of the model. */
function ownCode(codigo: string): string {
  return codigo.length > 4 ? codigo.slice(1) : codigo;
}

function prefixOf(sobre: string): string {
  return sobre === '' ? '' : `${sobre}: `;
}

/** The first sentences that fit, and the remaining text. */
function splitSentence(text: string): { readonly first: string; readonly rest: string } {
  if (text.length <= TEXT_MAX) return { first: text, rest: '' };
  const end = text.lastIndexOf('. ', TEXT_MAX - 1);
  if (end > TEXT_MAX / 3) return { first: text.slice(0, end + 1), rest: text.slice(end + 2) };
  // The text before a colon is a sentence without the text after it.
  const colon = text.lastIndexOf(': ', TEXT_MAX - 1);
  if (colon > TEXT_MAX / 3) return { first: `${text.slice(0, colon)}.`, rest: upperFirst(text.slice(colon + 2)) };
  const room = roomFor(text);
  return { first: `${text.slice(0, room)}…`, rest: text.slice(room).trimStart() };
}

/** The longest part that fits, cut between two words. */
export function clipText(text: string): string {
  return text.length <= TEXT_MAX ? text : `${text.slice(0, roomFor(text))}…`;
}

/** The cut is between two words, unless one word from the sender takes most of the room. */
function roomFor(text: string): number {
  const end = text.lastIndexOf(' ', TEXT_MAX - 1);
  return end > TEXT_MAX / 3 ? end : TEXT_MAX - 1;
}

/** The cut is never in the middle of a word, and at the end of a sentence if possible. */
function cutText(text: string): string {
  return splitSentence(text).first;
}
