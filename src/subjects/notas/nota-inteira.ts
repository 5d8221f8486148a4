/** All data of one note, for a person who asks about it: history, parties, amounts, signature, documents, and possible actions. */

import type { NotaRow } from '../../base/book/nota-columns.ts';
import { tellMoment } from '../../base/world/gather-facts.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import { noNota, type Problem } from '../../base/world/operator.ts';
import { isJson, sentAsStored } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { decodeXml } from '../../documents/encoding.ts';
import { readInside } from '../../documents/own-note.ts';
import { readOwnXml } from '../../documents/xml.ts';
import { dotDocumento, maskDocumento, whyNoChave } from '../../fiscal/chave.ts';
import { type DescribedValue, describeValues } from '../../fiscal/layout/describe-values.ts';
import { INF_DPS } from '../../fiscal/layout/dps.ts';
import { INF_NFSE_OWN } from '../../fiscal/layout/nfse.ts';
import { childOf, type Elemento } from '../../fiscal/layout/tree.ts';
import { elementsOf, type Item } from '../../fiscal/layout/vocabulary.ts';
import { NOTA_ESTADOS } from '../../fiscal/nota.ts';
import { tipoByCodigo } from '../../fiscal/tipos-evento.ts';
import { trimStop } from '../../fiscal/words.ts';
import { debugSignature } from '../assinatura/debug.ts';
import { type EventoPublico, eventosOfNota, findRegistrador } from '../eventos/queries.ts';
import { describeDevedor } from './colunas-da-nota.ts';
import { danfseOfNota } from './danfse.ts';
import { type NotaDoOperador, showNota } from './operate.ts';
import { explainEspera, type Municipio, type NotaReading, notaByChave } from './queries.ts';
import { explainEmitida, type Passo } from './validate.ts';

type ParteDaNota = {
  readonly papel: 'Prestador' | 'Tomador' | 'Intermediário';
  /** The document with its punctuation; a CPF masked. */
  readonly documento: string | undefined;
  readonly nome: string | undefined;
  readonly inscricaoMunicipal: string | undefined;
  readonly contato: string | undefined;
};

/** The amounts that a reader looks for first, as decimal texts; undefined: the note has none. */
type ResumoDaNota = {
  readonly base: string | undefined;
  readonly aliquota: string | undefined;
  readonly issqn: string | undefined;
  /** The party that pays the ISSQN, in words. */
  readonly devedor: string | undefined;
  readonly ibs: string | undefined;
  readonly cbs: string | undefined;
  readonly liquido: string | undefined;
};

type AssinaturaDaNota =
  | {
      readonly titular: string;
      readonly documento: string | null;
      readonly emissor: string;
      readonly inicio: string;
      readonly fim: string;
      readonly cadeia: readonly string[];
      readonly veredito: string;
    }
  | { readonly falta: string };

/** A note as a person reads it before an act on it. */
export type NotaLida = {
  readonly operador: NotaDoOperador;
  readonly nota: NotaReading['nota'];
  readonly emitidaEm: string;
  /** The present state in one sentence, with the next action. */
  readonly situacao: string;
  readonly partes: readonly ParteDaNota[];
  readonly servico: string | undefined;
  /** Newest first. */
  readonly eventos: readonly EventoPublico[];
};

export type NotaInteira = NotaLida & {
  readonly resumo: ResumoDaNota;
  readonly issqn: readonly DescribedValue[];
  /** Empty: the note has no group of these taxes. */
  readonly ibsCbs: readonly DescribedValue[];
  /** Steps of the calculation; undefined: the registers have changed since, and the note alone is authoritative. */
  readonly calculo: readonly Passo[] | undefined;
  readonly assinatura: AssinaturaDaNota;
  /** The event that cancelled the note, and the person who registered it by office. */
  readonly cancelou: { readonly evento: EventoPublico; readonly quem: string | undefined } | undefined;
  readonly recebidoEm: 'XML' | 'JSON';
  readonly temDanfse: boolean;
};

/** Throws an Error in Portuguese when there is no such municipality. */
export async function showNotaLida(world: World, slug: string, chave: string): Promise<NotaLida | Problem> {
  const found = await readNota(world, await municipioNamed(world, slug), chave);
  return 'problem' in found ? found : found.lida;
}

type Documento = { readonly infNfse: Elemento; readonly infDps: Elemento };

async function readNota(
  world: World,
  municipio: Municipio,
  chave: string,
): Promise<({ readonly lida: NotaLida; readonly row: NotaRow } & Documento) | Problem> {
  const operador = await showNota(world, municipio.tenant, chave);
  if ('problem' in operador) return operador;
  const [reading, row, eventos] = await Promise.all([
    notaByChave(world, municipio, chave),
    world.store.notas.findByChave(municipio.tenant, chave),
    eventosOfNota(world, municipio, chave),
  ]);
  if (reading === undefined || row === undefined) return { problem: noNota(municipio.tenant) };
  const infNfse = childOf(readOwnXml(Buffer.from(row.nfse)), 'infNFSe')!;
  const infDps = childOf(childOf(infNfse, 'DPS'), 'infDPS')!;
  const lida = {
    operador,
    nota: reading.nota,
    emitidaEm: tellMoment(chave, row.data_emissao),
    situacao: await tellSituacao(world, municipio, row),
    partes: listPartes(infNfse, infDps),
    servico: childOf(childOf(childOf(infDps, 'serv'), 'cServ'), 'xDescServ')?.text,
    eventos: eventos?.eventos ?? [],
  };
  return { lida, row, infNfse, infDps };
}

/** Throws an Error in Portuguese when there is no such municipality. */
export async function showNotaInteira(world: World, slug: string, chave: string): Promise<NotaInteira | Problem> {
  const municipio = await municipioNamed(world, slug);
  const found = await readNota(world, municipio, chave);
  if ('problem' in found) return found;
  const { lida, row, infNfse, infDps } = found;
  const recebido = (await world.store.notas.readReceived(municipio.tenant, { id: BigInt(row.id), mes: row.mes }))!;
  const kind = isJson(recebido) ? 'JSON' : 'XML';
  const evento = lida.eventos.find(
    ({ codigo_tipo_evento, status_evento }) =>
      status_evento === 'processado' && tipoByCodigo(codigo_tipo_evento)!.cancela,
  );
  return {
    ...lida,
    cancelou: evento && { evento, quem: await findRegistrador(world, municipio.tenant, String(evento.id_evento)) },
    resumo: summariseAmounts(infNfse),
    issqn: describeGroups([
      [childOf(infDps, 'valores'), ofGroup(INF_DPS, 'valores')],
      [childOf(infNfse, 'valores'), ofGroup(INF_NFSE_OWN, 'valores')],
    ]),
    ibsCbs: describeGroups([
      [childOf(infDps, 'IBSCBS'), ofGroup(INF_DPS, 'IBSCBS')],
      [childOf(infNfse, 'IBSCBS'), ofGroup(INF_NFSE_OWN, 'IBSCBS')],
    ]),
    calculo: await explainEmitida(world, municipio, sentAsStored(recebido), +row.data_emissao),
    assinatura: kind === 'JSON' ? { falta: SIGNED_APART } : assinaturaOf(world, municipio, recebido),
    recebidoEm: kind,
    temDanfse: !NOTA_ESTADOS[row.estado].chave_acesso_provisoria,
  };
}

const SIGNED_APART =
  'A declaração veio em JSON, e a assinatura, quando há, num cabeçalho ao lado dela: foi conferida ao receber.';

const PARTES = [
  ['prest', 'Prestador'],
  ['toma', 'Tomador'],
  ['interm', 'Intermediário'],
] as const;

/** The parties. The register completes the provider where the declaration leaves something out. */
function listPartes(infNfse: Elemento, infDps: Elemento): readonly ParteDaNota[] {
  return PARTES.flatMap(([name, papel]) => {
    const parte = childOf(infDps, name);
    if (parte === undefined) return [];
    const registered = name === 'prest' ? childOf(infNfse, 'emit') : undefined;
    const text = (child: string): string | undefined => (childOf(parte, child) ?? childOf(registered, child))?.text;
    const documento = text('CNPJ') ?? text('CPF');
    const contato = [text('fone'), text('email')].filter((one) => one !== undefined).join(', ');
    return [
      {
        papel,
        documento: documento === undefined ? text('NIF') : dotDocumento(maskDocumento(documento)),
        nome: text('xNome'),
        inscricaoMunicipal: text('IM'),
        contato: contato || undefined,
      },
    ];
  });
}

function describeGroups(
  groups: readonly (readonly [element: Elemento | undefined, items: readonly Item[]])[],
): readonly DescribedValue[] {
  return groups.flatMap(([element, items]) => (element === undefined ? [] : describeValues(element, items)));
}

/** The items of a group of the layout. */
function ofGroup(items: readonly Item[], name: string): readonly Item[] {
  const found = elementsOf(items).find((item) => item.name === name);
  return found?.kind === 'group' ? found.items : [];
}

function summariseAmounts(infNfse: Elemento): ResumoDaNota {
  const ler = readInside(infNfse);
  return {
    base: ler('valores/vBC'),
    aliquota: ler('valores/pAliqAplic'),
    issqn: ler('valores/vISSQN'),
    devedor: describeDevedor(ler),
    ibs: ler('IBSCBS/totCIBS/gIBS/vIBSTot'),
    cbs: ler('IBSCBS/totCIBS/gCBS/vCBS'),
    liquido: ler('valores/vLiq'),
  };
}

function assinaturaOf(world: World, municipio: Municipio, body: Uint8Array): AssinaturaDaNota {
  const report = debugSignature(world, municipio, { kind: 'guardada', body });
  if ('faults' in report && !('certificado' in report)) return { falta: report.faults[0]!.mensagem };
  const { certificado, veredito } = report;
  if (certificado === null) return { falta: veredito };
  const { titular, documento, emissor, inicio, fim, cadeia } = certificado;
  return { titular, documento, emissor, inicio, fim, cadeia: cadeia ?? [], veredito };
}

/** The reason for the state of a note and the next action, as a help desk tells a caller. */
async function tellSituacao(world: World, municipio: Municipio, row: NotaRow): Promise<string> {
  const { estado, mensagem_retorno, due_at, substitui, chave_acesso, data_autorizacao, data_cancelamento } = row;
  const at = (instant: Date): string => tellMoment(chave_acesso, instant);
  const next = due_at === null ? '' : ` O serviço tenta de novo sozinho em ${at(due_at)}.`;
  const causa = await explainEspera(world, municipio, row);
  const because = causa === undefined ? '' : ` ${causa.diz}`;
  const told = mensagem_retorno === null ? '' : ` ${trimStop(mensagem_retorno)}.`;
  switch (estado) {
    case 'autorizada':
      return `Autorizada pelo ADN${data_autorizacao === null ? '' : ` em ${at(data_autorizacao)}`}. Vale, e tem DANFSe.`;
    case 'cancelada':
      return `Cancelada por um evento${data_cancelamento === null ? '' : ` em ${at(data_cancelamento)}`}: já não tem efeito. Os eventos, abaixo, dizem qual.`;
    case 'recusada':
      return `Não foi autorizada, e não será.${told} O prestador corrige a declaração e emite de novo: a série e o número estão livres.`;
    case 'retida':
      return `Ainda não foi enviada ao ADN.${told} Importe as alíquotas que faltam (nfse aliquotas importar); depois ela segue sozinha.`;
    case 'transmitida':
      return `Foi enviada ao ADN, que ainda não respondeu.${told}${because}${next} Não é preciso emitir de novo.`;
    case 'emitida': {
      const transmission = await world.transmission(municipio);
      if ('problem' in transmission) {
        return `Está emitida e não pode seguir ao ADN: ${trimStop(transmission.problem)}. Quem administra o município corrige isso; depois ela segue sozinha.`;
      }
      if (substitui !== null) {
        return `Está emitida e espera: ela substitui a nota ${substitui}, que ainda não está cancelada. Quando o evento de substituição daquela concluir, esta segue.${because}${next}`;
      }
      return `Está emitida, e aguarda a vez de ir ao ADN.${told}${because}${next} Não é preciso emitir de novo.`;
    }
  }
}

// Documents, as files.

export type DocumentoDaNota = 'recebido' | 'nfse' | 'danfse';

export type ArquivoDaNota = { readonly nome: string; readonly tipo: string; readonly conteudo: string | Buffer };

/** A document of the note as a file; a sentence when it does not exist. */
export async function documentoDaNota(
  world: Pick<World, 'store' | 'now'>,
  slug: string,
  chave: string,
  qual: DocumentoDaNota,
): Promise<ArquivoDaNota | Problem> {
  const municipio = await municipioNamed(world, slug);
  const problem = whyNoChave(chave);
  if (problem !== undefined) return { problem };
  if (qual === 'danfse') {
    const danfse = await danfseOfNota(world, municipio, chave);
    if (danfse === undefined) return { problem: noNota(slug) };
    if ('faults' in danfse) return { problem: danfse.faults[0]!.mensagem };
    return { nome: `${chave}.pdf`, tipo: 'application/pdf', conteudo: danfse.pdf };
  }
  const row = await world.store.notas.findByChave(municipio.tenant, chave);
  if (row === undefined) return { problem: noNota(slug) };
  if (qual === 'nfse') {
    const reading = (await notaByChave(world, municipio, chave))!;
    const conteudo = NOTA_ESTADOS[row.estado].chave_acesso_provisoria ? row.nfse : reading.nota.xml_nota;
    return { nome: `${chave}.xml`, tipo: XML_TYPE, conteudo };
  }
  const recebido = (await world.store.notas.readReceived(municipio.tenant, { id: BigInt(row.id), mes: row.mes }))!;
  if (isJson(recebido))
    return { nome: `${chave}-dps.json`, tipo: 'application/json; charset=utf-8', conteudo: recebido };
  return { nome: `${chave}-dps.xml`, tipo: XML_TYPE, conteudo: decodeXml(recebido) };
}

const XML_TYPE = 'application/xml; charset=utf-8';
