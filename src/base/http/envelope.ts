/**
 * The error envelope (D-03): the first fault is its head, all of them are listed. A fault supplies its own texts. The public error table
 * supplies those of its code (origin, page, examples).
 */

import { errorOf, hasExamples, statusOf } from '../../fiscal/errors.ts';
import { type Aviso, countOf, type Fault, limitFaults, type Refusal } from '../../fiscal/fault.ts';
import { type FieldsOf, field, orAbsent } from '../../published/openapi/field.ts';
import { ERROS_PATH } from '../../published/paths.ts';

const PLACE = {
  linha: orAbsent(field.integer('Linha do documento enviado, a partir de 1.')),
  coluna: orAbsent(field.integer('Coluna, em caracteres, a partir de 1.')),
} as const;

export const ENVELOPE_SHAPES = {
  Erro: {
    codigo: field.errorCode('Código da tabela pública.'),
    xpath: field.text('Elemento da DPS de que o erro fala; vazio quando não é da DPS.'),
    campo: orAbsent(field.text('Propriedade do corpo JSON, ou parâmetro, de que o erro fala.')),
    mensagem: field.text('O que está errado e como se corrige.'),
    origem_moc: field.text('De onde vem a regra.'),
    doc_url: field.address('Página do código.'),
    exemplo_ref: orAbsent(field.address('Exemplos na página do código, no primeiro erro que o traz.')),
    ...PLACE,
    encontrado: orAbsent(field.text('O que veio.')),
    esperado: orAbsent(field.text('O que se esperava; uma lista longa vem só no primeiro erro que a tem.')),
    correcao: orAbsent(
      field.text(
        'Texto que se cola, como está, no lugar do que veio: em XML, do elemento inteiro que xpath nomeia e que começa em linha e coluna, ou do atributo, se xpath acaba em @nome (o que falta se acrescenta à marca); em JSON, da propriedade que campo nomeia, nome e valor, ou do item, se campo acaba em [n]. Vazio: retire o que está ali, em JSON com a vírgula que o separa. Sem correcao, a correção pede uma decisão.',
      ),
    ),
    chave_acesso: orAbsent(field.accessKey('E0014: chave da nota que já existe.')),
    numero_protocolo: orAbsent(field.text('E0014: protocolo da nota que já existe.')),
    mesmo_conteudo: orAbsent(field.flag('E0014: se a DPS é a mesma que a emitiu.')),
  } satisfies FieldsOf<Erro>,
  Aviso: {
    codigo: field.errorCode('Código da tabela pública.'),
    xpath: field.text('Elemento da DPS de que o aviso fala; vazio quando não é da DPS.'),
    mensagem: field.text('O que convém saber.'),
    campo: orAbsent(field.text('Propriedade do corpo JSON, ou cabeçalho, de que o aviso fala.')),
    ...PLACE,
    doc_url: field.address('Página do código.'),
  } satisfies FieldsOf<ReturnType<typeof avisosOf>[number] & typeof PLACE>,
} as const;

/** Fields of every refusal. */
export const ENVELOPE_FIELDS = {
  codigo_erro: field.errorCode('Código do primeiro erro. Decida por ele e pelo status HTTP.'),
  mensagem: field.text('O primeiro erro em uma frase; o texto pode mudar.'),
  detalhes: field.shape('Detalhes', 'Pormenores do primeiro erro: um texto, ou um objeto com dados.'),
  timestamp: field.moment('Quando foi respondido, no fuso do município.'),
  campo: orAbsent(field.text('Campo, parâmetro ou cabeçalho de que o primeiro erro fala.')),
  erros: field.shape('Erro[]', 'Todos os erros da etapa que recusou, na ordem do leiaute.'),
  valores_validos: orAbsent(field.texts('Os nomes que valem, quando o pedido não é um deles.')),
} as const satisfies FieldsOf<ReturnType<typeof envelopeOf> & { readonly valores_validos: unknown }>;

/** `site`: the address of the service as the caller knows it; `timestamp`: in the zone of the municipality (D-04). */
export function envelopeOf(refusal: Refusal, site: string, timestamp: string, campo: string | undefined) {
  const [head] = refusal.faults;
  return {
    codigo_erro: head.codigo,
    mensagem: head.mensagem,
    detalhes: head.detalhes ?? detailsOf(refusal, site),
    timestamp,
    campo: campo ?? head.campo,
    // Flows limit their lists already; this limit covers faults of other sources.
    erros: errosOf(limitFaults(refusal.faults), site),
  };
}

/** The media type of RFC 9457, for callers that prefer it. */
export const PROBLEM = 'application/problem+json';

/** The members of RFC 9457, which go before those of the envelope. `id`: that of the request. */
export function problemOf(
  { codigo_erro, mensagem, erros }: Pick<Envelope, 'codigo_erro' | 'mensagem' | 'erros'>,
  status: number,
  id: string,
) {
  return {
    type: erros[0]!.doc_url,
    title: errorOf(codigo_erro)?.mensagem ?? mensagem,
    status,
    detail: mensagem,
    instance: `urn:uuid:${id}`,
  };
}

type Envelope = ReturnType<typeof envelopeOf>;

/** An error as `erros` lists it. */
type Erro = ReturnType<typeof erroOf>;

/** Faults as `erros` lists them in every answer. A long list, and the examples of a code, appear once. */
export function errosOf(faults: readonly Fault[], site: string): readonly Erro[] {
  const written = new Set<string>();
  const tellOnce = (text: string | undefined): string | undefined => {
    if (text === undefined || written.has(text)) return undefined;
    written.add(text);
    return text;
  };
  return faults.map((fault) => {
    const erro = erroOf(fault, site);
    const isLong = (erro.esperado?.length ?? 0) > ESPERADO_REPEATED_MAX;
    return {
      ...erro,
      exemplo_ref: tellOnce(erro.exemplo_ref),
      esperado: isLong ? tellOnce(erro.esperado) : erro.esperado,
    };
  });
}

/** Longest list that may be repeated. A longer one would make an answer hundreds of times its request. */
const ESPERADO_REPEATED_MAX = 120;

/** HTTP status of a refusal: that of its first fault's code. */
export function statusOfRefusal({ faults }: Refusal): number {
  return statusOf(faults[0].codigo);
}

/** `avisos` point to the public table like errors do. */
export function avisosOf(avisos: readonly Aviso[], site: string): readonly (Aviso & { readonly doc_url: string })[] {
  return avisos.map((aviso) => ({ ...aviso, doc_url: pageOf(aviso.codigo, site) }));
}

/** The order of the fields is that of D-03; JSON leaves out those that are undefined. */
function erroOf(fault: Fault, site: string) {
  const { codigo, xpath, mensagem } = fault;
  const row = errorOf(codigo);
  const page = pageOf(codigo, site);
  return {
    codigo,
    xpath,
    campo: fault.campo,
    mensagem,
    origem_moc: row?.origem ?? '',
    doc_url: page,
    exemplo_ref: row !== undefined && hasExamples(row) ? `${page}#exemplos` : undefined,
    linha: fault.linha,
    coluna: fault.coluna,
    encontrado: fault.encontrado,
    esperado: fault.esperado,
    correcao: fault.correcao,
    chave_acesso: fault.chave_acesso,
    numero_protocolo: fault.numero_protocolo,
    mesmo_conteudo: fault.mesmo_conteudo,
  };
}

function pageOf(codigo: string, site: string): string {
  return `${site}${ERROS_PATH}/${codigo}`;
}

/** The `detalhes` of a fault that brings none: number of faults, their place, and the page of the code. */
function detailsOf({ faults }: Refusal, site: string): string {
  const [head] = faults;
  const count = countOf(faults);
  if (count > faults.length) {
    return `São ${count} erros; os primeiros estão na lista erros, cuja última entrada diz quantos ficaram de fora. Este é o primeiro na ordem do leiaute.`;
  }
  if (count > 1) return `São ${count} erros; todos estão na lista erros. Este é o primeiro na ordem do leiaute.`;
  const line = head.linha === undefined ? '' : ` (linha ${head.linha}, coluna ${head.coluna})`;
  const where = head.xpath === '' ? '' : `O erro está em ${head.campo ?? head.xpath}${line}. `;
  return `${where}O que significa e como resolver: ${pageOf(head.codigo, site)}`;
}
