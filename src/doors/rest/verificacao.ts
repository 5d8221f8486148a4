/**
 * The signature debugger as an address: which kind of signature a request brings, how much of the processor such
 * questions may take, and the answer, or the bare canonical form.
 */
import type { IncomingHttpHeaders } from 'node:http';
import {
  type AlgorithmLine,
  type AttributeLine,
  type CertificateReport,
  debugSignature,
  type SentSignature,
  type SignatureReport,
} from '../../flows/debug-signature.ts';
import type { Field } from '../../published/openapi/field.ts';
import { mediaTypeOf } from './content.ts';
import { errosOf } from './envelope.ts';
import { refuseUnavailable } from './refusals.ts';
import type { Accepted, Call, Refused } from './route.ts';

/**
 * Anybody may ask, and a signature that does not hold is compared with all that its author may have meant: some
 * milliseconds for a DPS, some tenths of a second for the worst megabyte. So these questions have a tenth of the
 * processor together, and issuing always has the rest.
 */
const SHARE = 0.1;
/** Several hundred questions at once, before the share is all there is. */
const SAVED_MAX_MS = 4_000;

export type Budget = {
  /** Seconds to wait; undefined when a question may be put. */
  waitOf(): number | undefined;
  spend(ms: number): void;
};

/** `now`: milliseconds of a clock that only goes forward. */
export function openBudget(now: () => number): Budget {
  let saved = SAVED_MAX_MS;
  let at = now();
  const refill = (): void => {
    const then = at;
    at = now();
    saved = Math.min(SAVED_MAX_MS, saved + (at - then) * SHARE);
  };
  return {
    waitOf: () => {
      refill();
      return saved > 0 ? undefined : Math.max(1, Math.ceil(-saved / SHARE / 1000));
    },
    // The time is known only afterwards, so the last question may overdraw the budget.
    spend: (ms) => {
      refill();
      saved -= ms;
    },
  };
}

const budget = openBudget(() => performance.now());

export const VERIFICACAO_FIELDS = {
  valida: { type: 'boolean', about: 'Se a produção aceitaria esta assinatura, com as âncoras deste município.' },
  veredito: { type: 'string', about: 'O mesmo em uma frase, com os códigos.' },
  o_que_mudar: { type: 'string[]', about: 'Os passos que resolvem, em ordem; vazio quando não há o que mudar.' },
  erros: { type: 'Erro[]', about: 'O que a produção responderia em erros.' },
  assinatura: {
    type: 'string',
    values: ['XML', 'CMS'],
    about: 'XML: dentro do documento. CMS: em cabeçalho, sobre um corpo JSON.',
  },
  forma_canonica: {
    type: 'string',
    nullable: true,
    about: 'O texto que foi resumido, em UTF-8: a forma canônica exclusiva de infDPS, ou o corpo JSON como chegou.',
  },
  forma_canonica_bytes: { type: 'number', nullable: true, about: 'Quantos bytes ela tem.' },
  forma_canonica_sha256: {
    type: 'string',
    nullable: true,
    about: 'O SHA-256 dela em hexadecimal, como sha256sum o mostra.',
  },
  resumo: {
    type: 'Resumo',
    nullable: true,
    about: 'O resumo declarado pela assinatura e o calculado; null o que não se pôde ler ou calcular.',
  },
  signed_info_canonico: { type: 'string', nullable: true, about: 'O texto que a chave assina, na assinatura XML.' },
  atributos_assinados: {
    type: 'AtributoAssinado[]',
    nullable: true,
    about: 'Os atributos que a chave assina, no CMS que os tem.',
  },
  algoritmos: { type: 'Algoritmo[]', about: 'Cada algoritmo e a referência: o encontrado e o exigido.' },
  valor: { type: 'Valor', about: 'Se o valor da assinatura foi feito pela chave do certificado.' },
  certificado: {
    type: 'CertificadoDaAssinatura',
    nullable: true,
    about: 'O que se leu no certificado; documentos mascarados.',
  },
  prestador: { type: 'ParteDaAssinatura', about: 'De quem o certificado tem de ser, e se é.' },
} as const satisfies Readonly<Record<string, Field>>;

export const VERIFICACAO_SHAPES = {
  Resumo: {
    algoritmo: { type: 'string', about: 'Algoritmo do resumo.' },
    codificacao: { type: 'string', values: ['base64', 'hexadecimal'], about: 'Como os dois estão escritos.' },
    declarado: { type: 'string', nullable: true, about: 'O que a assinatura declara; null quando não se pôde ler.' },
    calculado: { type: 'string', nullable: true, about: 'O da forma canônica; null quando não há o que resumir.' },
    confere: { type: 'boolean', nullable: true, about: 'Se são iguais.' },
  } satisfies Readonly<Record<keyof NonNullable<SignatureReport['resumo']>, Field>>,
  AtributoAssinado: {
    oid: { type: 'string', about: 'Identificador do atributo.' },
    nome: { type: 'string', about: 'Nome do atributo.' },
    valor: { type: 'string', about: 'O seu valor.' },
  } satisfies Readonly<Record<keyof AttributeLine, Field>>,
  Algoritmo: {
    onde: { type: 'string', about: 'O que o algoritmo faz na assinatura, ou a referência.' },
    encontrado: { type: 'string', nullable: true, about: 'O que veio; null quando falta.' },
    exigido: { type: 'string', about: 'O que se aceita.' },
    confere: { type: 'boolean', about: 'Se o que veio se aceita.' },
  } satisfies Readonly<Record<keyof AlgorithmLine, Field>>,
  Valor: {
    confere: { type: 'boolean', nullable: true, about: 'null quando não se pôde saber.' },
  } satisfies Readonly<Record<keyof SignatureReport['valor'], Field>>,
  CertificadoDaAssinatura: {
    titular: { type: 'string', about: 'Nome do titular, sem o documento.' },
    documento: { type: 'string', nullable: true, about: 'CNPJ ou CPF do titular, mascarado.' },
    tipo: { type: 'string', nullable: true, values: ['CNPJ', 'CPF'], about: 'De quem é.' },
    onde: { type: 'string', nullable: true, about: 'Em que campo do certificado o documento está.' },
    emissor: { type: 'string', about: 'Autoridade que o emitiu.' },
    serie: { type: 'string', about: 'Número de série.' },
    sha256: { type: 'string', about: 'SHA-256 do certificado, em hexadecimal.' },
    inicio: { type: 'string', formato: 'momento', about: 'Início da validade.' },
    fim: { type: 'string', formato: 'momento', about: 'Fim da validade.' },
    valido_agora: { type: 'boolean', about: 'Se está na validade.' },
    uso_de_chave: { type: 'string[]', nullable: true, about: 'Usos da chave; null quando não os diz.' },
    politicas: { type: 'string[]', about: 'Políticas de certificação.' },
    confiavel: { type: 'boolean', about: 'Se vem de uma autoridade em que este município confia.' },
    cadeia: { type: 'string[]', nullable: true, about: 'As autoridades até a raiz; null quando não há cadeia.' },
    motivo: { type: 'string', nullable: true, about: 'Por que não é confiável.' },
    revogado: {
      type: 'boolean',
      nullable: true,
      about:
        'false só quando cada autoridade da cadeia tem uma lista completa e em vigor, e nenhuma o traz; null quando não se pôde saber.',
    },
    sem_lista_de_revogados: {
      type: 'string[]',
      nullable: true,
      about:
        'As autoridades da cadeia de que falta uma lista de revogados completa e em vigor; null quando não há cadeia.',
    },
  } satisfies Readonly<Record<keyof CertificateReport, Field>>,
  ParteDaAssinatura: {
    documento: { type: 'string', nullable: true, about: 'Documento do prestador no corpo enviado.' },
    confere: { type: 'boolean', nullable: true, about: 'Se o certificado é dele.' },
  } satisfies Readonly<Record<keyof SignatureReport['prestador'], Field>>,
} as const;

type Answer = { readonly status: 'OK' } & Readonly<Record<keyof typeof VERIFICACAO_FIELDS, unknown>>;

export async function verifySignature(call: Call): Promise<Refused | Accepted<Answer> | Accepted<string>> {
  const { world, municipio, headers, body, site } = call;
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
function wantsText({ accept }: IncomingHttpHeaders): boolean {
  return accept !== undefined && /\btext\/plain\b/i.test(accept) && !/\bapplication\/(json|\*)/i.test(accept);
}

function refuseText(): Refused {
  const mensagem =
    'Não há forma canônica para responder como texto: o documento não tem um só infDPS dentro de DPS, o texto não é UTF-8, ou ela é longa demais. Sem Accept: text/plain a resposta diz o que foi achado.';
  return { refusal: { faults: [{ codigo: 'E003', xpath: '', mensagem }] }, campo: 'Accept' };
}
