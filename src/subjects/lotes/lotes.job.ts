/**
 * The worker's job for a lot of the legacy port: each RPS becomes a DPS and is judged as on the REST door. All notes are then issued in one
 * transaction with the lot, or none is and the lot has the reasons (D-161). A worker that dies in between has issued nothing.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import { type Delivered, NOTHING, type Taking } from '../../base/delivery/deliver.ts';
import type { Kind } from '../../base/delivery/lanes.ts';
import { isLocked } from '../../base/pg/unavailable.ts';
import { inTraces } from '../../base/traces/traces.ts';
import type { SentDps } from '../../base/world/sent-documents.ts';
import { isPassing } from '../../base/world/store-trouble.ts';
import type { World } from '../../base/world/world.ts';
import { readOwnNote } from '../../documents/own-note.ts';
import { readXml } from '../../documents/xml.ts';
import { correlacaoDaIntegracao } from '../../fiscal/abrasf/correlacao.ts';
import { divergenciasOf } from '../../fiscal/abrasf/divergencias.ts';
import { IMPEDIMENTOS } from '../../fiscal/abrasf/impedimentos.ts';
import { type Lote, plainRegistration, type RpsDoLote, readLote } from '../../fiscal/abrasf/lote.ts';
import { dpsOfRps } from '../../fiscal/abrasf/mapa.ts';
import {
  MENSAGENS_MAX,
  type Mensagem,
  mensagemOf,
  mensagemOfDivergencia,
  mensagemOfFault,
  mensagemOfImpedimento,
  rpsNamed,
  rpsPathOf,
} from '../../fiscal/abrasf/mensagens.ts';
import { mensagemPropria } from '../../fiscal/abrasf/proprias.ts';
import { identificacaoOf } from '../../fiscal/abrasf/rps.ts';
import type { Contexto } from '../../fiscal/abrasf/rps-values.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { readSubitem } from '../../fiscal/catalogs/catalogs.ts';
import { LOTE_SITUACAO } from '../../fiscal/lote.ts';
import { tipoByCodigo, tipoBySlug } from '../../fiscal/tipos-evento.ts';
import { registerPedido } from '../eventos/register.ts';
import type { Issuance, IssueResult } from '../notas/issue.rows.ts';
import { prepareIssuance } from '../notas/issue.ts';
import type { ClaimedLote } from './claim.rows.ts';

/** Time that a claim lasts; five hundred RPS take a few seconds. */
export const LOTE_LEASE_MS = 120_000;
/** A lot that failed this often for reasons outside it is given up with a message. */
const TENTATIVAS_MAX = 5;
/** The delay of a lot after the database did not answer, or after its provider's sequence was locked. */
const DEFER_MS = 5_000;
/** RPS judged in parallel: the database time is short, and a whole lot would need much memory. */
const AT_ONCE = 16;

/** Processes one lot of a tenant. */
export async function processLotes(world: World, municipio: Municipio, { token }: Taking = {}): Promise<Delivered> {
  const { tenant } = municipio;
  const now = world.now();
  const lote = await world.store.lotes.claim(tenant, now, now + LOTE_LEASE_MS, token);
  if (lote === undefined) return NOTHING;
  return inTraces('lote', [lote], { 'nfse.municipio': tenant, 'nfse.lote': lote.id }, () =>
    process(world, municipio, lote),
  );
}

async function process(world: World, municipio: Municipio, lote: ClaimedLote): Promise<Delivered> {
  const { tenant } = municipio;
  if (lote.situacao === LOTE_SITUACAO.processado) {
    await cancelReplaced(world, municipio, lote);
    return { delivered: 1, isFull: true, pauseMs: 0 };
  }
  const mensagens = lote.tentativas > TENTATIVAS_MAX ? [GIVEN_UP] : await issueOrDefer(world, municipio, lote);
  if (mensagens === 'deferred') return { delivered: 0, isFull: true, pauseMs: 0 };
  const isLong = mensagens.length > MENSAGENS_MAX;
  const told = isLong ? [...mensagens.slice(0, MENSAGENS_MAX - 1), mensagemOf('E49')] : mensagens;
  if (told.length > 0) await world.store.lotes.refuse(tenant, lote, told, world.now());
  else world.wake(tenant);
  return { delivered: 1, isFull: true, pauseMs: 0 };
}

const GIVEN_UP: Mensagem = mensagemPropria('L999');

/** A failure outside the lot is no attempt; a locked provider delays only its own lots. */
async function issueOrDefer(
  world: World,
  municipio: Municipio,
  lote: ClaimedLote,
): Promise<readonly Mensagem[] | 'deferred'> {
  try {
    return await issueAll(world, municipio, lote);
  } catch (error) {
    if (!isPassing(error)) throw error;
    await world.store.lotes.defer(municipio.tenant, lote, world.now() + DEFER_MS);
    if (!isLocked(error)) throw error;
    return 'deferred';
  }
}

/** Issues the notes of a lot, or returns the reasons against it. */
async function issueAll(world: World, municipio: Municipio, lote: ClaimedLote): Promise<readonly Mensagem[]> {
  const reading = readXml(lote.recebido);
  if ('fault' in reading) throw new Error('a lot that was read does not read');
  const read = readLote(reading.root);
  if ('mensagens' in read) return read.mensagens;
  const [inscricaoMunicipal, cLocEmi] = await Promise.all([
    registrationOf(world, municipio, read),
    placeOf(world, municipio, read),
  ]);
  const doLote = {
    inscricaoMunicipal,
    cLocEmi,
    simular: lote.simular ?? undefined,
    requisicao: lote.requisicao ?? undefined,
  };
  const issuances: Issuance[] = [];
  const replaced: (string | undefined)[] = [];
  const mensagens: Mensagem[] = [];
  for (let from = 0; from < read.rps.length && mensagens.length < MENSAGENS_MAX; from += AT_ONCE) {
    const some = read.rps.slice(from, from + AT_ONCE);
    const prepared = await Promise.all(some.map((one) => prepare(world, municipio, one, doLote)));
    for (const one of prepared) {
      if ('issuance' in one) {
        issuances.push(one.issuance);
        replaced.push(one.replaces);
      } else mensagens.push(...one.mensagens);
    }
  }
  if (mensagens.length > 0) return mensagens;
  const replaces = replaced.some((chave) => chave !== undefined);
  const issued = await world.store.lotes.issue(municipio.tenant, lote, issuances, { now: world.now(), replaces });
  if (typeof issued === 'object' && 'substituidas' in issued) {
    return read.rps
      .filter((_rps, place) => issued.substituidas.includes(replaced[place] ?? ''))
      .map(({ identificacao }) => mensagemOf('E7', rpsNamed(identificacao)));
  }
  if (typeof issued === 'object')
    return issued.results.flatMap((result, place) => describeResult(result, read.rps[place]!));
  if (issued !== 'lost') world.store.movimento.countNotas(municipio.tenant, issuances.length, world.now());
  else {
    world.log.warn(
      { tenant: municipio.tenant },
      'um lote demorou mais que o seu prazo; é retomado por quem o tem agora',
    );
  }
  return [];
}

/**
 * Registers the event that cancels the note of a replaced RPS: the model has no separate request for it. A failed registration is logged
 * for the operator; the notes are issued all the same.
 */
async function cancelReplaced(world: World, municipio: Municipio, lote: ClaimedLote): Promise<void> {
  const { tenant } = municipio;
  for (const { nfse, chave_acesso } of await world.store.lotes.listNotas(tenant, lote.protocolo)) {
    const inNota = readOwnNote(nfse);
    const [replaced, motivo, texto] = ['chSubstda', 'cMotivo', 'xMotivo'].map((name) =>
      inNota(`DPS/infDPS/subst/${name}`),
    );
    if (replaced === undefined || motivo === undefined || texto === undefined) continue;
    const registered = await registerPedido(
      world,
      municipio,
      { chave: replaced },
      {
        pedido: {
          tipo: tipoBySlug('cancelamento_por_substituicao')!,
          autor: undefined,
          campos: {
            codigo_motivo_cancelamento: motivo,
            descricao_motivo_cancelamento: texto,
            chave_acesso_substituta: chave_acesso,
          },
        },
        recebido: lote.recebido,
      },
    );
    // The event already exists after a crash, and its repetition is refused.
    const codes =
      typeof registered === 'object' && 'faults' in registered ? registered.faults.map(({ codigo }) => codigo) : [];
    if (codes.length > 0 || registered === 'not_found') {
      world.log.warn({ tenant, codes }, 'a nota de um RPS substituído não recebeu o cancelamento por substituição');
    }
  }
  await world.store.lotes.finish(tenant, lote);
}

/** `replaces`: key of the note that it replaces. */
type Prepared =
  | { readonly issuance: Issuance; readonly replaces: string | undefined }
  | { readonly mensagens: readonly Mensagem[] };

/** Values of the lot that apply to all its RPS. */
type DoLote = Pick<Contexto, 'inscricaoMunicipal' | 'cLocEmi'> & Pick<SentDps, 'simular' | 'requisicao'>;

/** The lot's registration applies to RPS without one. It is used as it is registered, or dropped when no establishment has it. */
async function registrationOf(
  world: World,
  { tenant }: Municipio,
  { cnpj, inscricaoMunicipal }: Lote,
): Promise<string | undefined> {
  if (inscricaoMunicipal === undefined) return undefined;
  const registered = (await world.store.prestadores.listOf(tenant, cnpj)).map((one) => one.inscricaoMunicipal ?? '');
  return registered.find((im) => im !== '' && plainRegistration(im) === plainRegistration(inscricaoMunicipal));
}

/** IBGE code of the municipality that issues the notes. The shared sandbox takes it from the provider's last note (D-736). */
async function placeOf(world: World, { tenant, codigoIbge }: Municipio, { cnpj }: Lote): Promise<string | undefined> {
  return codigoIbge ?? (await world.store.lotes.findMunicipioOfPrestador(tenant, cnpj));
}

async function prepare(
  world: World,
  municipio: Municipio,
  { rps, identificacao }: RpsDoLote,
  { inscricaoMunicipal, cLocEmi, simular, requisicao }: DoLote,
): Promise<Prepared> {
  const { tenant, ambiente, codigoIbge } = municipio;
  const sobre = rpsNamed(identificacao);
  const item = readSubitem(rps.get('Servico/ItemListaServico') ?? '');
  const [imported, substituido] = await Promise.all([
    item === undefined
      ? undefined
      : world.store.lotes.findCorrelacao(tenant, item, rps.get('Servico/CodigoTributacaoMunicipio') ?? ''),
    findReplaced(world, tenant, rps),
  ]);
  if (substituido !== undefined && 'codigo' in substituido) {
    return { mensagens: [mensagemOf(substituido.codigo, sobre, substituido.detalhe)] };
  }
  const chSubstda = substituido?.chave;
  const { tpAmb } = AMBIENTES[ambiente];
  // Only the shared sandbox chooses codes by itself, since it has no municipality whose correlation could apply. Other sandboxes use what
  // they import, as production does.
  const escolhida = imported === 'nenhuma' && ambiente === 'homologacao' && codigoIbge === undefined;
  const correlacao = escolhida ? correlacaoDaIntegracao(rps) : imported === 'nenhuma' ? undefined : imported;
  const isIsencao = rps.get('NaturezaOperacao') === ISENTA && (await isExemption(world, tenant, correlacao?.nBM));
  const contexto = { tpAmb, cLocEmi, correlacao, escolhida, isIsencao, chSubstda, inscricaoMunicipal };
  const refuses = (municipio.regrasNacionais ?? AMBIENTES[ambiente].regrasNacionais) === 'recusa';
  const impedimentos = IMPEDIMENTOS.filter(({ nacional, has }) => (refuses || !nacional) && has(rps, contexto));
  const told = impedimentos.map((one) => mensagemOfImpedimento(one, sobre));
  if (impedimentos.some(({ julga }) => !julga)) return { mensagens: told };
  const xml = dpsOfRps(rps, contexto);
  const sent = { kind: 'rps', body: Buffer.from(xml, 'utf8'), simular, requisicao } as const;
  const prepared = await prepareIssuance(world, municipio, sent);
  if ('faults' in prepared) {
    // A code that an impediment already has is not repeated.
    const named = new Set(told.map(({ codigo }) => codigo));
    const found = prepared.faults
      .map((fault) => ({ mensagem: mensagemOfFault(fault, sobre, rps), campo: rpsPathOf(fault, rps) }))
      .filter(({ mensagem }) => !named.has(mensagem.codigo));
    const placed = new Set(found.flatMap(({ mensagem, campo }) => (campo === undefined ? [] : [mensagem.codigo])));
    // One field of the RPS may become several elements of the DPS: its fault is reported once, with the field.
    const byText = new Map<string, Mensagem>();
    for (const { mensagem, campo } of found) {
      if (campo === undefined && placed.has(mensagem.codigo)) continue;
      byText.set(`${mensagem.codigo} ${mensagem.mensagem}`, mensagem);
    }
    told.push(...byText.values());
  } else {
    told.push(...divergenciasOf(rps, prepared.julgada).map((one) => mensagemOfDivergencia(one, sobre)));
  }
  if ('faults' in prepared || told.length > 0) return { mensagens: told };
  return { issuance: prepared.issuance, replaces: chSubstda };
}

/** The value of `NaturezaOperacao` for exemption. */
const ISENTA = '3';

/** Whether the benefit is an exemption in the municipality's register, if there is one. */
async function isExemption({ store }: World, tenant: string, nBM: string | undefined): Promise<boolean> {
  if (nBM === undefined) return false;
  const { beneficios } = await store.cadastros.find(tenant, { nBM });
  return beneficios?.some(({ tipo }) => tipo === 'isencao') ?? false;
}

/**
 * Key of the note of the replaced RPS, or the reason against its replacement. The check applies in every environment, since this port has
 * no place for a remark.
 */
async function findReplaced(
  world: World,
  tenant: string,
  rps: RpsDoLote['rps'],
): Promise<{ readonly chave: string } | { readonly codigo: 'E7' | 'E76'; readonly detalhe?: string } | undefined> {
  const identificacao = identificacaoOf(rps, 'RpsSubstituido');
  if (identificacao === undefined) return undefined;
  const row = await world.store.lotes.findRps(tenant, rps.get('Prestador/Cnpj') ?? '', identificacao);
  const chave = row?.nota?.chave_acesso;
  const nota = chave === undefined ? undefined : await world.store.eventos.findNota(tenant, { chave });
  if (chave === undefined || nota === undefined) return { codigo: 'E76' };
  if (nota.estado === 'recusada') return { codigo: 'E76', detalhe: 'O ambiente nacional recusou a nota dele.' };
  const isOpen = nota.eventos.some((one) => one.isDue && tipoByCodigo(one.codigo_tipo_evento)?.cancela === true);
  return nota.estado === 'cancelada' || isOpen ? { codigo: 'E7' } : { chave };
}

/** The obstacles among jobs that were not issued together. */
function describeResult(result: IssueResult, { identificacao }: RpsDoLote): readonly Mensagem[] {
  if ('error' in result) throw result.error;
  if (!('duplicateOf' in result)) return [];
  return [mensagemOf('E10', rpsNamed(identificacao), `A nota é a de chave ${result.duplicateOf.chave_acesso}.`)];
}

export const JOBS: readonly Kind[] = [{ kind: 'lotes', lanes: 1, deliver: processLotes }];
