/**
 * The signature debugger as an address. It finds the kind of signature in a request and limits the processor time. The answer is the
 * report, or the bare canonical form.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { mediaTypeOf } from '../../base/http/content.ts';
import { DPS_NACIONAL } from '../../base/http/described.ts';
import { errosOf } from '../../base/http/envelope.ts';
import { takesType } from '../../base/http/negotiation.ts';
import { refuseUnavailable } from '../../base/http/refusals.ts';
import type { Accepted, Call, Refused } from '../../base/http/route.ts';
import { defineRoute, type Route } from '../../base/http/route.ts';
import { SALAS } from '../../base/world/lugares.ts';
import { DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER } from '../../base/world/sent-documents.ts';
import type { Ambiente } from '../../fiscal/ambiente.ts';
import { PUBLICO } from '../../published/acesso.ts';
import { type FieldsOf, field, orNull, STATUS } from '../../published/openapi/field.ts';
import {
  type AlgorithmLine,
  type AttributeLine,
  type CertificateReport,
  debugSignature,
  type SentSignature,
  type SignatureReport,
} from './debug.ts';

/** Highest processor time that accumulates: enough for several hundred requests at once. */
const SAVED_MAX_MS = 4_000;

/**
 * Anybody may ask. A signature that does not hold is compared with all that its author may have meant. This takes some milliseconds for a
 * DPS, and some tenths of a second for the worst megabyte. These requests therefore share one part of the processor, and issuing always has
 * the rest. `now`: milliseconds of a monotonic clock.
 */
export function openBudget(now: () => number, share: number) {
  let saved = SAVED_MAX_MS;
  let at = now();
  const refill = (): void => {
    const then = at;
    at = now();
    saved = Math.min(SAVED_MAX_MS, saved + (at - then) * share);
  };
  return {
    /** Seconds to wait; undefined: a request may be answered now. */
    waitOf: (): number | undefined => {
      refill();
      return saved > 0 ? undefined : Math.max(1, Math.ceil(-saved / share / 1000));
    },
    // The time is known only afterwards, so the last request may overdraw the budget.
    spend: (ms: number): void => {
      refill();
      saved -= ms;
    },
  };
}

const openBudgetOf = (ambiente: Ambiente) => openBudget(() => performance.now(), SALAS.verificacoes[ambiente] / 100);
/** The remaining budget of each side; neither side uses the budget of the other. */
export const budgets = { producao: openBudgetOf('producao'), homologacao: openBudgetOf('homologacao') };

export const VERIFICACAO_FIELDS = {
  valida: field.flag('Se a produção aceitaria esta assinatura, com as âncoras deste município.'),
  veredito: field.text('O mesmo em uma frase, com os códigos.'),
  o_que_mudar: field.texts('Os passos que resolvem, em ordem; vazio quando não há o que mudar.'),
  erros: field.shape('Erro[]', 'O que a produção responderia em erros.'),
  assinatura: field.choice(['XML', 'CMS'], 'XML: dentro do documento. CMS: em cabeçalho, sobre um corpo JSON.'),
  forma_canonica: orNull(
    field.text(
      'O texto que foi resumido, em UTF-8: a forma canônica exclusiva de infDPS, ou o corpo JSON como chegou.',
    ),
  ),
  forma_canonica_bytes: orNull(field.integer('Quantos bytes ela tem.')),
  forma_canonica_sha256: orNull(field.text('O SHA-256 dela em hexadecimal, como sha256sum o mostra.')),
  resumo: orNull(
    field.shape('Resumo', 'O resumo declarado pela assinatura e o calculado; null o que não se pôde ler ou calcular.'),
  ),
  signed_info_canonico: orNull(field.text('O texto que a chave assina, na assinatura XML.')),
  atributos_assinados: orNull(field.shape('AtributoAssinado[]', 'Os atributos que a chave assina, no CMS que os tem.')),
  algoritmos: field.shape('Algoritmo[]', 'Cada algoritmo e a referência: o encontrado e o exigido.'),
  valor: field.shape('Valor', 'Se o valor da assinatura foi feito pela chave do certificado.'),
  certificado: orNull(field.shape('CertificadoDaAssinatura', 'O que se leu no certificado; documentos mascarados.')),
  prestador: field.shape('ParteDaAssinatura', 'De quem o certificado tem de ser, e se é.'),
} satisfies FieldsOf<Omit<SignatureReport, 'faults'> & { readonly erros: unknown }>;

export const VERIFICACAO_SHAPES = {
  Resumo: {
    algoritmo: field.text('Algoritmo do resumo.'),
    codificacao: field.choice(['base64', 'hexadecimal'], 'Como os dois estão escritos.'),
    declarado: orNull(field.text('O que a assinatura declara; null quando não se pôde ler.')),
    calculado: orNull(field.text('O da forma canônica; null quando não há o que resumir.')),
    confere: orNull(field.flag('Se são iguais.')),
  } satisfies FieldsOf<NonNullable<SignatureReport['resumo']>>,
  AtributoAssinado: {
    oid: field.text('Identificador do atributo.'),
    nome: field.text('Nome do atributo.'),
    valor: field.text('O seu valor.'),
  } satisfies FieldsOf<AttributeLine>,
  Algoritmo: {
    onde: field.text('O que o algoritmo faz na assinatura, ou a referência.'),
    encontrado: orNull(field.text('O que veio; null quando falta.')),
    exigido: field.text('O que se aceita.'),
    confere: field.flag('Se o que veio se aceita.'),
  } satisfies FieldsOf<AlgorithmLine>,
  Valor: {
    confere: orNull(field.flag('null quando não se pôde saber.')),
  } satisfies FieldsOf<SignatureReport['valor']>,
  CertificadoDaAssinatura: {
    titular: field.text('Nome do titular, sem o documento.'),
    documento: orNull(field.text('CNPJ ou CPF do titular, mascarado.')),
    tipo: orNull(field.choice(['CNPJ', 'CPF'], 'De quem é.')),
    onde: orNull(field.text('Em que campo do certificado o documento está.')),
    emissor: field.text('Autoridade que o emitiu.'),
    serie: field.text('Número de série.'),
    sha256: field.text('SHA-256 do certificado, em hexadecimal.'),
    inicio: field.moment('Início da validade.'),
    fim: field.moment('Fim da validade.'),
    valido_agora: field.flag('Se está na validade.'),
    uso_de_chave: orNull(field.texts('Usos da chave; null quando não os diz.')),
    politicas: field.texts('Políticas de certificação.'),
    confiavel: field.flag('Se vem de uma autoridade em que este município confia.'),
    cadeia: orNull(field.texts('As autoridades até a raiz; null quando não há cadeia.')),
    motivo: orNull(field.text('Por que não é confiável.')),
    revogado: orNull(
      field.flag(
        'false só quando cada autoridade da cadeia tem uma lista completa e em vigor, e nenhuma o traz; null quando não se pôde saber.',
      ),
    ),
    sem_lista_de_revogados: orNull(
      field.texts(
        'As autoridades da cadeia de que falta uma lista de revogados completa e em vigor; null quando não há cadeia.',
      ),
    ),
  } satisfies FieldsOf<CertificateReport>,
  ParteDaAssinatura: {
    documento: orNull(field.text('Documento do prestador no corpo enviado.')),
    confere: orNull(field.flag('Se o certificado é dele.')),
  } satisfies FieldsOf<SignatureReport['prestador']>,
} as const;

type Answer = { readonly status: 'OK' } & Readonly<Record<keyof typeof VERIFICACAO_FIELDS, unknown>>;

export async function verifySignature(call: Call): Promise<Refused | Accepted<Answer> | Accepted<string>> {
  const { world, municipio, headers, body, site } = call;
  const budget = budgets[municipio.ambiente];
  const wait = budget.waitOf();
  if (wait !== undefined) {
    const reason =
      'As verificações de assinatura já usaram a parte do processador que lhes cabe; a emissão segue normal. O comando nfse assinatura faz a mesma verificação na sua máquina.';
    return refuseUnavailable(reason, wait);
  }
  const began = performance.now();
  const report = debugSignature(world, municipio, readSentSignature(headers, body));
  budget.spend(performance.now() - began);
  if (!('valida' in report)) return { refusal: report };
  if (wantsText(headers)) return report.forma_canonica === null ? refuseText() : { body: report.forma_canonica };
  const { valida, veredito, o_que_mudar, faults, ...rest } = report;
  return { body: { status: 'OK', valida, veredito, o_que_mudar, erros: errosOf(faults, site), ...rest } };
}

function readSentSignature(headers: IncomingHttpHeaders, body: Buffer): SentSignature {
  if (mediaTypeOf(headers) !== 'application/json') return { kind: 'xml', body };
  const campo =
    headers['x-dps-assinatura'] === undefined && headers['x-evento-assinatura'] !== undefined
      ? 'X-Evento-Assinatura'
      : 'X-DPS-Assinatura';
  const value = headers[campo.toLowerCase()];
  return { kind: 'json', body, campo, cabecalho: Array.isArray(value) ? value.join(', ') : value };
}

/** Libraries that read JSON often accept text as well; text is answered only where JSON is not accepted. */
function wantsText(headers: IncomingHttpHeaders): boolean {
  return takesType(headers, 'text/plain') && !takesType(headers, 'application/json');
}

function refuseText(): Refused {
  const mensagem =
    'Não há forma canônica para responder como texto: o documento não tem um só infDPS dentro de DPS, o texto não é UTF-8, ou ela é longa demais. Sem Accept: text/plain a resposta diz o que foi achado.';
  return { refusal: { faults: [{ codigo: 'E003', xpath: '', mensagem }] }, campo: 'Accept' };
}

export const ROTAS_DE_ASSINATURA: readonly Route[] = [
  defineRoute({
    id: 'verificarAssinatura',
    method: 'POST',
    path: '/api/v1/assinatura/verificacao',
    summary:
      'Confere a assinatura de uma DPS em XML, ou de um corpo JSON com X-DPS-Assinatura, como a produção conferiria: forma canônica, resumos, algoritmos, certificado e o que mudar. Com Accept: text/plain, só a forma canônica. Nada é gravado.',
    reads: [DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER],
    takes: ['application/xml', 'text/xml', 'application/json'],
    nacional: DPS_NACIONAL,
    status: 200,
    fields: { status: STATUS, ...VERIFICACAO_FIELDS },
    headers: [],
    codes: ['E003', 'E201', 'E703'],
    acesso: {
      ...PUBLICO,
      estranho: 'o que a produção diria da assinatura que enviou; não se olham o cadastro nem as notas',
      custo: 'uma parte pequena do processador, de todos juntos; além dela 503',
    },
    handle: verifySignature,
  }),
];
