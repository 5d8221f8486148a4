/**
 * Migrates documents of the national API to this service: unwrap, recognise, judge, correct where certain, and explain the differences.
 * Nothing is issued, stored or signed: only the holder of the key can sign.
 */

import { municipalMoment } from '../../base/world/gather-facts.ts';
import { tributacaoRenumerada } from '../../base/world/sent-documents.ts';
import { attempt } from '../../documents/attempt.ts';
import { DPS_PROFILE, isSignature } from '../../documents/signature-shape.ts';
import { checkSignature } from '../../documents/signed.ts';
import { withoutSignatures } from '../../documents/signing.ts';
import { readXml, type XmlDocumentReading } from '../../documents/xml.ts';
import { municipioInWords } from '../../fiscal/catalogs/catalogs.ts';
import { dpsIdOf, parseChave } from '../../fiscal/chave.ts';
import { type Fault, quoted } from '../../fiscal/fault.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { DPS_VERSAO } from '../../fiscal/layout/dps.ts';
import { attributeOf, type Elemento } from '../../fiscal/layout/tree.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import { corpoOfPedido } from '../../fiscal/pedido-nacional.ts';
import { lowerFirst } from '../../fiscal/words.ts';
import { type Conferido, conferirDocumento, type JudgeDps, roundsFor } from './conferir.ts';
import { bytesOf, type Desembrulhado, type Embrulho, unwrap } from './unwrap.ts';

/** A difference between this service and the national API. */
export type Assunto =
  | 'endereco'
  | 'conexao'
  | 'envelope'
  | 'tipo'
  | 'versao'
  | 'tributacao'
  | 'dhEmi'
  | 'id'
  | 'numero'
  | 'assinatura'
  | 'resposta'
  | 'erros'
  | 'repetida'
  | 'consulta'
  | 'evento'
  | 'lote';

/** A change in this document, or a consequence of its content. */
type Mudanca = { readonly assunto: Assunto; readonly diz: string };

export type Migrado = {
  readonly embrulho: readonly Embrulho[];
  readonly mudancas: readonly Mudanca[];
  /** Faults that were corrected, since each has only one correction. */
  readonly corrigidas: readonly Fault[];
  /** The bytes to sign and send, and their judgement. The remaining faults need a person's decision. */
  readonly bytes: Uint8Array;
  readonly conferido: Omit<Conferido, 'embrulho'>;
  /** The destination path, below the municipality. */
  readonly destino: string;
};

/** The input could not become a document. */
export type NaoMigrado = { readonly embrulho: readonly Embrulho[]; readonly problema: string };

export type Migracao = {
  readonly documentos: readonly (Migrado | NaoMigrado)[];
  /** Documents of a lot that were not examined. */
  readonly alem: number;
};

type Asked = {
  /** Milliseconds: the moment of issue that the migration shows. */
  readonly agora: number;
  /** Documents of a lot that are examined, at most. */
  readonly documentosMax: number;
  /** The longest document that the service takes. */
  readonly bytesMax: number;
};

export async function migrarDps(judgeDps: JudgeDps, given: Uint8Array, asked: Asked): Promise<Migracao> {
  const all = unwrap(given);
  const looked = all.slice(0, asked.documentosMax);
  const how = { ...asked, rounds: roundsFor(bytesOf(looked)) };
  const documentos: (Migrado | NaoMigrado)[] = [];
  for (const one of looked) documentos.push(await migrarOne(judgeDps, one, how));
  return { documentos, alem: all.length - documentos.length };
}

/** `rounds`: the rounds of corrections. */
type How = Asked & { readonly rounds: number };

async function migrarOne(judgeDps: JudgeDps, one: Desembrulhado, how: How): Promise<Migrado | NaoMigrado> {
  const { embrulho } = one;
  if ('problema' in one) return { embrulho, problema: one.problema };
  if (one.bytes.length > how.bytesMax) {
    const sizes = `${groupDigits(one.bytes.length)} bytes; o serviço recebe documentos de até ${groupDigits(how.bytesMax)}`;
    return { embrulho, problema: `O documento tem ${sizes}.` };
  }
  const reading = readXml(one.bytes);
  if (!('fault' in reading) && reading.root.name === 'pedRegEvento') return migrarEvento(judgeDps, reading.root, one);
  const came = await conferirDocumento(judgeDps, one.bytes, how.rounds);
  if ('problema' in came) return { embrulho, problema: came.problema };
  const mudancas = [...embrulhoMudancas(embrulho)];
  const isChanged = came.corrigido !== undefined;
  let isSigned = false;
  if (came.especie === 'DPS em XML' && !('fault' in reading)) {
    isSigned = reading.root.children.some(isSignature);
    mudancas.push(...dpsMudancas(reading.root, how.agora), assinaturaMudanca(reading, { isSigned, isChanged }));
  }
  const destino = came.especie === 'pedido de evento em JSON' ? EVENTOS_PATH : ISSUE_PATH;
  return { embrulho, mudancas, ...(await ready(judgeDps, came, { bytes: one.bytes, isSigned })), destino };
}

/** The document as it is sent, judged again when it was changed. */
async function ready(
  judgeDps: JudgeDps,
  came: Omit<Conferido, 'embrulho'>,
  { bytes, isSigned }: { readonly bytes: Uint8Array; readonly isSigned: boolean },
): Promise<Pick<Migrado, 'corrigidas' | 'bytes' | 'conferido'>> {
  const { corrigido } = came;
  if (corrigido === undefined) return { corrigidas: [], bytes, conferido: came };
  // The signature no longer covers the changed content; the service would refuse it.
  const mended = Buffer.from(isSigned ? withoutSignatures(corrigido.texto) : corrigido.texto);
  const conferido = await conferirDocumento(judgeDps, mended, 0);
  return { corrigidas: corrigido.corrigidas, bytes: mended, conferido: 'problema' in conferido ? came : conferido };
}

const ISSUE_PATH = '/api/v1/nfse/v101';
const EVENTOS_PATH = '/api/v1/nfse/CHAVE/eventos';

async function migrarEvento(
  judgeDps: JudgeDps,
  root: Elemento,
  { embrulho }: Desembrulhado,
): Promise<Migrado | NaoMigrado> {
  const pedido = corpoOfPedido(root);
  if ('problema' in pedido) return { embrulho, problema: pedido.problema };
  const { tipo, chave, corpo, deixados } = pedido;
  const bytes = Buffer.from(`${JSON.stringify(corpo, undefined, 2)}\n`);
  const came = await conferirDocumento(judgeDps, bytes);
  if ('problema' in came) return { embrulho, problema: came.problema };
  const left =
    deixados.length === 0 ? '' : ` Ficam de fora, porque o serviço os escreve: ${quoted(deixados.join(', '))}.`;
  const mudancas: readonly Mudanca[] = [
    ...embrulhoMudancas(embrulho),
    {
      assunto: 'evento',
      diz: `Veio o XML do evento e${tipo.codigo}; aqui é um JSON, com tipo_evento ${tipo.slug}.${left}`,
    },
    {
      assunto: 'assinatura',
      diz: 'A assinatura do XML não serve ao JSON: assine os bytes dele, e a assinatura vai num cabeçalho.',
    },
  ];
  const destino = isChave(chave) ? EVENTOS_PATH.replace('CHAVE', chave) : EVENTOS_PATH;
  return { embrulho, mudancas, ...(await ready(judgeDps, came, { bytes, isSigned: false })), destino };
}

const isChave = (text: string): boolean => parseChave(text) !== undefined;

function embrulhoMudancas(embrulho: readonly Embrulho[]): readonly Mudanca[] {
  if (embrulho.length === 0) return [];
  return [
    {
      assunto: 'envelope',
      diz: `Envie o documento sem nada em volta. Em volta dele havia: ${embrulho.map(({ nome }) => nome).join(', ')}.`,
    },
  ];
}

function dpsMudancas(root: Elemento, agora: number): readonly Mudanca[] {
  const inf = root.children.find(({ name }) => name === 'infDPS');
  if (inf === undefined) return [];
  const textOf = (name: string, group: Elemento | undefined = inf): string | undefined =>
    group?.children.find((one) => one.name === name)?.text.trim();
  const municipio = textOf('cLocEmi');
  const mudancas: Mudanca[] = [];
  if (municipio !== undefined) {
    mudancas.push({
      assunto: 'endereco',
      diz: `Em produção esta DPS vai ao endereço de ${quoted(municipioInWords(municipio))}, que está em cLocEmi.`,
    });
  }
  const versao = attributeOf(root, 'versao');
  if (versao !== DPS_VERSAO) {
    mudancas.push({
      assunto: 'versao',
      diz: `Veio ${versao === undefined ? 'sem versao' : `versao="${quoted(versao)}"`}; aqui é versao="${DPS_VERSAO}", e vale o leiaute ${DPS_VERSAO} inteiro.`,
    });
    const renumbered = tributacaoRenumerada(root);
    if (renumbered !== undefined) mudancas.push({ assunto: 'tributacao', diz: renumbered });
  }
  const dhEmi = textOf('dhEmi');
  if (dhEmi !== undefined) {
    mudancas.push({
      assunto: 'dhEmi',
      diz: `Veio ${quoted(dhEmi)}; retire a tag. O serviço escreve o instante em que recebe a DPS, na hora do município: agora seria ${isoMoment(municipalMoment(municipio, agora))}.`,
    });
  }
  return [...mudancas, ...idMudancas(inf, { textOf, municipio })];
}

type TextOf = (name: string, group?: Elemento) => string | undefined;

function idMudancas(
  inf: Elemento,
  { textOf, municipio }: { readonly textOf: TextOf; readonly municipio: string | undefined },
): readonly Mudanca[] {
  const prest = inf.children.find(({ name }) => name === 'prest');
  const documento = prest && (textOf('CNPJ', prest) ?? textOf('CPF', prest));
  const [serie, nDPS] = [textOf('serie'), textOf('nDPS')];
  if (serie === undefined || nDPS === undefined) {
    return [{ assunto: 'numero', diz: 'A DPS vem sem serie ou sem nDPS: o serviço numera.' }];
  }
  const id = attributeOf(inf, 'Id');
  const formed = attempt(() => dpsIdOf({ cLocEmi: municipio!, documento: documento!, serie, nDPS }));
  if (formed === undefined || id === formed) return [];
  const came = id === undefined ? 'Veio sem Id' : `Veio o Id ${quoted(id)}`;
  return [
    {
      assunto: 'id',
      diz: `${came}, e do que a DPS diz se forma ${formed}, que é o que vale aqui. A assinatura se refere ao Id: acerte-o antes de assinar.`,
    },
  ];
}

/** The signature that came is judged as in REST v1. Its program can then be set before it signs again. */
function assinaturaMudanca(
  reading: XmlDocumentReading,
  { isSigned, isChanged }: { readonly isSigned: boolean; readonly isChanged: boolean },
): Mudanca {
  const assunto = 'assinatura';
  if (!isSigned) {
    const diz =
      'Veio sem assinatura, que o ambiente de integração dispensa. Em produção, assine a DPS depois das mudanças.';
    return { assunto, diz };
  }
  const [fault] = checkSignature(reading, DPS_PROFILE).faults;
  const changed = 'A DPS mudou, e a assinatura que veio não vale mais; foi retirada. Assine de novo.';
  if (fault === undefined) {
    const kept = 'Nada mudou na DPS: a assinatura que veio continua valendo, e o XML segue como está.';
    return { assunto, diz: isChanged ? changed : kept };
  }
  const wrong = `A que veio também não serviria: ${lowerFirst(fault.mensagem)}`;
  return {
    assunto,
    diz: isChanged ? `${changed} ${wrong}` : `A assinatura que veio não serve: ${lowerFirst(fault.mensagem)}`,
  };
}
