/** The events of a note for an integrator, in the sandbox: the service, the parties, and how a note came to its state. */
import assert from 'node:assert/strict';
import { readJson } from '../../src/documents/json.ts';
import { buildChave, parseChave } from '../../src/fiscal/chave.ts';
import { MINUTE_MS } from '../../src/fiscal/moment.ts';
import { readPedido } from '../../src/fiscal/pedido-evento.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import type { OperatorTrigger } from '../../src/subjects/eventos/operate.rows.ts';
import { registerPedido } from '../../src/subjects/eventos/register.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from './eventos.ts';
import type { Answer } from './http.ts';
import { startTestService } from './service.ts';

export const TENANT = 'integracao';

export const AGENTE = '52998224725';

export const MUNICIPIO_CNPJ = '99999999000191';

/** Documents of the parties of the example, with an added intermediary. */
export const PRESTADOR = '11222333000181';

export const TOMADOR = '52998224725';

/** The header that asks the local authority to simulate an outcome. */
export const plays = (value: string): Readonly<Record<string, string>> => ({ 'X-NFSe-Simular': value });

export function assertRefused(
  { status, headers, body }: Answer,
  expected: number,
  codigo: string,
  campo?: string,
): void {
  assert.equal(status, expected, JSON.stringify(body));
  assert.equal(body.codigo_erro, codigo, JSON.stringify(body));
  if (campo !== undefined) assert.equal(body.campo, campo);
  assert.equal(body.mensagem, body.erros[0].mensagem);
  assert.match(body.erros[0].doc_url, new RegExp(`/docs/erros/${codigo}$`));
  assert.equal(headers.get('x-nfse-ambiente'), 'homologacao');
}

/** Simulated outcomes of the local authority: a failure without decision, and a refusal. */
export const [FAILS, REFUSES] = ['adn:rejeita=E1217', 'adn:rejeita=E0840'];

export const WAITING = 'aguardando_autorizacao_nota';

type Passo = number | 'work' | OperatorTrigger;

/**
 * The simulated outcome of a cancellation, whether its note is a draft, and the next steps. A step is the worker, milliseconds of the
 * clock, or an action of the operator.
 */
export type Historia = { readonly adn?: string; readonly draft?: true; readonly passos: readonly Passo[] };

/** All three retries have failed. */
export const SPENT: Historia = {
  adn: FAILS,
  passos: ['work', ...[1, 2, 3].flatMap((): Passo[] => [10 * MINUTE_MS, 'work'])],
};

export const REJEICAO = { codigo_motivo_rejeicao: '3' };

export const motivoDe = (codigo_motivo_cancelamento: string, descricao_motivo_cancelamento: string) => ({
  codigo_motivo_cancelamento,
  descricao_motivo_cancelamento,
});

export const ANALISE = ['101103', 'solicitacao_analise_fiscal_para_cancelamento'] as const;

export const PEDIDO_DE_ANALISE = motivoDe('2', 'Serviço que não foi prestado');

/** The same table: types whose author is no party of the note. */
export const DE_OFICIO = [
  ['105104', 'cancelamento_deferido_por_analise_fiscal'],
  ['105105', 'cancelamento_indeferido_por_analise_fiscal'],
  ['205204', 'confirmacao_tacita'],
  ['205208', 'anulacao_rejeicao'],
  ['305101', 'cancelamento_por_oficio'],
  ['305102', 'bloqueio_por_oficio'],
  ['305103', 'desbloqueio_por_oficio'],
] as const;

export const substituicaoPor = (nova: NotaEmitida) => ({
  tipo_evento: 'cancelamento_por_substituicao',
  codigo_motivo_cancelamento: '99',
  descricao_motivo_cancelamento: 'Descrição do serviço incorreta',
  chave_acesso_substituta: nova.chave_acesso,
});

/** A well-formed key of a note that was never issued. */
export function noSuchKey({ chave_acesso }: Pick<NotaEmitida, 'chave_acesso'>): string {
  return buildChave({ ...parseChave(chave_acesso)!, nNFSe: 999_999 });
}

/** A service in the sandbox, and the ways of a note and its events to a state. */
export async function openHistorias() {
  const { address, world, store, clock } = await startTestService({ worker: false });

  const { issue, nota: readNota, register, registered, read, evento } = balcao(address);

  const work = bancada(world);

  async function authorised(patch: Patch = {}): Promise<NotaEmitida> {
    const nota = await issue(patch);
    await work.notas();
    return nota;
  }

  /** The clock advances, and the worker processes the events. */
  async function later(ms: number): Promise<void> {
    clock.now += ms;
    await work.eventos();
  }

  async function statusOf(nota: NotaEmitida, tipo = 'cancelamento', sequencial = 1): Promise<string> {
    return (await evento(nota, tipo, sequencial)).status_evento;
  }

  async function operate(id: number, trigger: OperatorTrigger): Promise<void> {
    const moved = await store.eventos.move(TENANT, String(id), trigger, clock.now, undefined);
    assert.ok(moved !== undefined && 'evento' in moved && !('conflict' in moved), JSON.stringify(moved));
  }

  /** Registers an event by the municipality itself. */
  async function deOficio(nota: NotaEmitida, body: object) {
    const json = readJson(Buffer.from(JSON.stringify(body)));
    assert.ok(!('fault' in json));
    const read = readPedido(json, 'municipio');
    assert.ok('pedido' in read, JSON.stringify(read));
    const municipio = (await store.municipios.findBySlug(TENANT))!;
    const named = { chave: nota.chave_acesso };
    return registerPedido(world, municipio, named, { pedido: read.pedido, municipio: MUNICIPIO_CNPJ });
  }

  async function registeredDeOficio(nota: NotaEmitida, body: object): Promise<void> {
    const answer = await deOficio(nota, body);
    assert.ok(answer !== 'not_found' && 'evento' in answer, JSON.stringify(answer));
    await work.eventos();
  }

  /** The note of a cancellation with this history. */
  async function cancelling({ adn, draft, passos }: Historia): Promise<NotaEmitida> {
    const nota = draft ? await issue() : await authorised();
    const { id_evento } = await registered(nota, CANCELAMENTO, adn === undefined ? {} : plays(adn));
    for (const passo of passos) {
      if (passo === 'work') await work.eventos();
      else if (typeof passo === 'number') clock.now += passo;
      else await operate(id_evento, passo);
    }
    return nota;
  }

  /** A note and its substitute, whose DPS names it and which waits for the event. */
  async function substitution(
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly antiga: NotaEmitida; readonly nova: NotaEmitida }> {
    const antiga = await authorised();
    const subst = {
      'subst/chSubstda': antiga.chave_acesso,
      'subst/cMotivo': '99',
      'subst/xMotivo': 'Descrição do serviço incorreta',
    };
    const nova = await issue(subst, headers);
    await work.notas();
    return { antiga, nova };
  }

  async function authorOf(id: number): Promise<string | undefined> {
    const xml = (await store.eventos.readDocuments(TENANT, String(id)))!.xml.toString();
    return /<(?:CNPJ|CPF)Autor>([^<]+)</.exec(xml)?.[1];
  }
  return {
    register,
    authorised,
    issue,
    store,
    clock,
    address,
    read,
    cancelling,
    evento,
    registered,
    work,
    authorOf,
    substitution,
    registeredDeOficio,
    statusOf,
    readNota,
    later,
    world,
    operate,
    deOficio,
  };
}
