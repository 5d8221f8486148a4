/**
 * Checks a pasted or dropped document: its kind, each fault at its place, the corrected text, and its amounts. Nothing is issued, stored or
 * logged.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import { isJson, type SentDps } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { applyFixes } from '../../documents/apply-fixes.ts';
import { decodeXml, quickText } from '../../documents/encoding.ts';
import { readJson } from '../../documents/json.ts';
import { type Decimal, formatDecimal } from '../../fiscal/decimal.ts';
import type { Aviso, Fault } from '../../fiscal/fault.ts';
import { groupDecimal } from '../../fiscal/group-digits.ts';
import { readPedido } from '../../fiscal/pedido-evento.ts';
import { officialValues } from '../../fiscal/rules/ibscbs-declarado.ts';
import { unwrap } from './unwrap.ts';
import { type Invalidated, type Passo, type Validated, validateNota } from './validate.ts';

type Especie = 'DPS em XML' | 'DPS em JSON' | 'pedido de evento em JSON';

export type Conferido = {
  readonly especie: Especie;
  /** The wrappings that were removed before reading, as `base64` and `gzip`. */
  readonly embrulho: readonly string[];
  /** The judged text, to whose lines the faults refer. */
  readonly texto: string;
  readonly faults: readonly Fault[];
  readonly avisos: readonly Aviso[];
  /** Sentences about checks that were not made and may still lead to a refusal. */
  readonly naoConferido: readonly string[];
  readonly valores: readonly (readonly [nome: string, valor: string])[];
  readonly calculo: readonly Passo[];
  /** The text with all certain corrections; undefined: there are none. */
  readonly corrigido: Corrigido | undefined;
};

type Corrigido = {
  readonly texto: string;
  readonly correcoes: number;
  /** Faults that were corrected, in the order in which they appeared. */
  readonly corrigidas: readonly Fault[];
  /** Faults that no correction mends. */
  readonly restam: readonly Fault[];
  /** The document was signed, and must be signed again. */
  readonly eraAssinado: boolean;
};

/** The document is not recognised: the text says which kind it seems to be and how to go on. */
export type NaoReconhecido = { readonly problema: string };

/** A correction may reveal further faults. */
const ROUNDS_MAX = 6;
/** Documents longer than this, in bytes, get one round of corrections. */
const LONG = 200_000;

/** Judges a DPS as issuance would. */
export type JudgeDps = (sent: SentDps) => Promise<Validated | Invalidated>;

/** Judges a document by the rules of this municipality. */
export async function conferir(
  world: World,
  municipio: Municipio,
  given: Uint8Array,
): Promise<Conferido | NaoReconhecido> {
  const [first, ...others] = unwrap(given);
  if (others.length > 0) {
    return { problema: `É um lote de ${others.length + 1} documentos. Aqui se confere um de cada vez: cole um deles.` };
  }
  if ('problema' in first!) return { problema: first.problema };
  const found = await conferirDocumento((sent) => validateNota(world, municipio, sent), first!.bytes);
  return 'problema' in found ? found : { ...found, embrulho: first!.embrulho.map(({ nome }) => nome) };
}

/** The rounds of corrections for documents of this total length. */
export function roundsFor(length: number): number {
  return length > LONG ? 1 : ROUNDS_MAX;
}

/** Judges a document without wrappings. `rounds`: the rounds of corrections. */
export async function conferirDocumento(
  judgeDps: JudgeDps,
  bytes: Uint8Array,
  rounds = roundsFor(bytes.length),
): Promise<Omit<Conferido, 'embrulho'> | NaoReconhecido> {
  const especie = recognise(bytes);
  if (typeof especie !== 'string') return especie;
  const texto = especie === 'DPS em XML' ? decodeXml(bytes) : Buffer.from(bytes).toString('utf8');
  const first = await judge(judgeDps, especie, bytes);
  const corrigido = await mend(judgeDps, especie, { texto, faults: first.faults, rounds });
  return { especie, texto, ...first, corrigido };
}

// Recognition of the document.

/** Each comment or instruction ends at its first end mark, so that the match never backtracks. */
const BEFORE_ROOT =
  /^(?:\ufeff|\u00ef\u00bb\u00bf)?\s*(?:<\?(?:(?!\?>)[\s\S])*\?>\s*|<!--(?:(?!-->)[\s\S])*-->\s*|<!DOCTYPE[^>]*>\s*)*/;
const ROOT = /^<(?:[\w.-]+:)?([\w.-]+)/;

/** Root elements of other documents, and where those documents are sent. */
const OTHERS: Readonly<Record<string, string>> = {
  NFSe: 'É uma NFS-e, já emitida. Aqui se confere a DPS de que ela vem, antes de emitir: cole só o elemento DPS.',
  CompNfse: 'É uma nota do serviço SOAP antigo (ABRASF). Aqui se conferem DPS e eventos.',
  evento:
    'É um evento do ambiente nacional, em XML. Este serviço registra o pedido de evento em JSON, com tipo_evento: veja a página de eventos da documentação.',
  pedRegEvento:
    'É um pedido de registro de evento do ambiente nacional, em XML. Este serviço o recebe em JSON, com tipo_evento: veja a página de eventos da documentação.',
  Envelope: 'É um envelope SOAP. Cole o documento que está dentro dele.',
};

function recognise(bytes: Uint8Array): Especie | NaoReconhecido {
  const text = quickText(bytes).slice(0, 8_192);
  if (text.trim() === '')
    return { problema: 'Não há nada para conferir. Cole uma DPS, ou um pedido de evento, ou escolha um arquivo.' };
  if (isJson(bytes))
    return /"tipo_evento"\s*:/.test(Buffer.from(bytes).toString('latin1')) ? 'pedido de evento em JSON' : 'DPS em JSON';
  const root = ROOT.exec(text.replace(BEFORE_ROOT, ''))?.[1];
  if (root === undefined && !text.trimStart().startsWith('<')) {
    const looks = text.startsWith('%PDF') ? 'É um PDF.' : text.startsWith('PK') ? 'É um ZIP.' : 'Não é XML nem JSON.';
    return { problema: `${looks} Uma DPS começa com <DPS, ou com { quando é JSON; cole o texto dela, inteiro.` };
  }
  const lot = /^(?:EnviarLoteRps|GerarNfse|Rps|LoteRps)/.exec(root ?? '')?.[0];
  if (lot !== undefined) {
    return {
      problema: `É um ${root} do serviço SOAP antigo (ABRASF). Aqui se confere a DPS; um RPS se confere enviando-o ao ambiente de integração.`,
    };
  }
  const other = OTHERS[root ?? ''];
  // The reader of a DPS itself reports a broken document or an unknown root.
  return other === undefined ? 'DPS em XML' : { problema: other };
}

// Judgement of the document.

type Judged = Pick<Conferido, 'faults' | 'avisos' | 'naoConferido' | 'valores' | 'calculo'>;

const NOTHING: Judged = { faults: [], avisos: [], naoConferido: [], valores: [], calculo: [] };

async function judge(judgeDps: JudgeDps, especie: Especie, body: Uint8Array): Promise<Judged> {
  if (especie === 'pedido de evento em JSON') return judgeEvento(body);
  const sent =
    especie === 'DPS em XML'
      ? ({ kind: 'xml', body } as const)
      : ({ kind: 'json', body, assinatura: undefined } as const);
  const validated = await judgeDps(sent);
  if (!('faults' in validated)) return { ...NOTHING, avisos: validated.avisos, ...amountsOf(validated) };
  const { faults, unlooked } = validated;
  const amounts = unlooked?.asSaid === undefined ? {} : amountsOf(unlooked.asSaid);
  return { ...NOTHING, ...amounts, faults, naoConferido: unlooked?.nao_conferido ?? [] };
}

const EVENTO_NAO_CONFERIDO = [
  'Conferiu-se o pedido em si. A nota a que ele se refere, quem pode registrá-lo e a assinatura se conferem quando ele é enviado.',
];

function judgeEvento(body: Uint8Array): Judged {
  const json = readJson(body);
  const read = 'fault' in json ? { faults: [json.fault] } : readPedido(json);
  return { ...NOTHING, faults: 'faults' in read ? read.faults : [], naoConferido: EVENTO_NAO_CONFERIDO };
}

function amountsOf({ amounts, dps, ibscbs, calculo }: Validated): Pick<Judged, 'valores' | 'calculo'> {
  const { vBC, pAliqAplic, vISSQN, vISSQNRet, vTotalRet, vLiq, deduction, benefit } = amounts;
  const rows: [string, Decimal | undefined][] = [
    ['Valor do serviço', dps.valores.vServPrest.vServ],
    ['Dedução ou redução', deduction],
    ['Benefício', benefit],
    ['Base de cálculo do ISSQN', vBC],
    ['Alíquota do ISSQN (%)', pAliqAplic],
    ['ISSQN', vISSQN],
    ['ISSQN retido', vISSQNRet],
    ['Total retido', vTotalRet],
    ['Valor líquido', vLiq],
    ...(ibscbs === undefined ? [] : Object.entries(officialValues(ibscbs))),
  ];
  const valores = rows.flatMap(([nome, valor]): [string, string][] =>
    valor === undefined ? [] : [[nome, groupDecimal(formatDecimal(valor))]],
  );
  return { valores, calculo };
}

// Correction of the document.

/** Applies corrections until none is left; the remaining faults need a person's decision. */
async function mend(
  judgeDps: JudgeDps,
  especie: Especie,
  {
    texto: before,
    faults: found,
    rounds,
  }: { readonly texto: string; readonly faults: readonly Fault[]; readonly rounds: number },
): Promise<Corrigido | undefined> {
  // The corrected text is UTF-8, independent of the original encoding.
  let texto = before.replace(/^(\ufeff?<\?xml[^>]*?encoding=["'])[^"']+/, '$1UTF-8');
  let faults = found;
  let correcoes = 0;
  const corrigidas: Fault[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { text, applied } = applyFixes(texto, faults);
    if (applied === 0 || text === texto) break;
    texto = text;
    correcoes += applied;
    corrigidas.push(...faults.filter(({ correcao, linha }) => correcao !== undefined && linha !== undefined));
    faults = (await judge(judgeDps, especie, Buffer.from(texto))).faults;
  }
  if (correcoes === 0) return undefined;
  return {
    texto,
    correcoes,
    corrigidas: notAmong(corrigidas, faults),
    restam: faults,
    eraAssinado: especie === 'DPS em XML' && /<(?:\w+:)?Signature[\s>]/.test(before),
  };
}

/** The faults that are no longer there, each once. */
function notAmong(faults: readonly Fault[], left: readonly Fault[]): readonly Fault[] {
  const keyOf = ({ codigo, xpath, campo }: Fault): string => [codigo, xpath, campo].join(' ');
  const known = new Set(left.map(keyOf));
  return faults.filter((fault) => !known.has(keyOf(fault)) && known.add(keyOf(fault)));
}
