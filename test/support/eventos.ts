/** Events as an integrator registers and reads them; and a worker that runs when the test says so. */
import assert from 'node:assert/strict';
import type { Db } from '../../src/base/pg/open.ts';
import type { World } from '../../src/base/world/world.ts';
import type { EventoEstado } from '../../src/fiscal/evento.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { deliverEventos } from '../../src/subjects/eventos/deliver.job.ts';
import { deliverNotas } from '../../src/subjects/notas/deliver.job.ts';
import { type Answer, request } from './http.ts';

/** The content of an event, beside its type and author. */
export const CANCELAMENTO = {
  tipo_evento: 'cancelamento',
  codigo_motivo_cancelamento: '1',
  descricao_motivo_cancelamento: 'Valor do serviço informado com erro',
} as const;

/** A note by the names of the answers. */
export type NotaEmitida = { readonly chave_acesso: string; readonly numero_protocolo: string };

/** The two addresses at which events are registered. */
export const PATHS = {
  chave: ({ chave_acesso }: NotaEmitida) => `nfse/${chave_acesso}/eventos`,
  protocolo: ({ numero_protocolo }: NotaEmitida) => `nfse/protocolo/${numero_protocolo}/eventos`,
} as const;

/** A municipality as its integrators see it. */
export type Balcao = {
  readonly api: string;
  issue(patch?: Patch, headers?: Readonly<Record<string, string>>): Promise<NotaEmitida>;
  nota(nota: NotaEmitida): Promise<Answer>;
  register(
    nota: NotaEmitida,
    evento: unknown,
    headers?: Readonly<Record<string, string>>,
    path?: keyof typeof PATHS,
  ): Promise<Answer>;
  /** Registers an event, which must succeed, and returns the event object. */
  registered(
    nota: NotaEmitida,
    evento: object,
    headers?: Readonly<Record<string, string>>,
    // biome-ignore lint/suspicious/noExplicitAny: tests look at the answer field by field
  ): Promise<any>;
  /** `where`: a path below the address of the events. */
  read(nota: Pick<NotaEmitida, 'chave_acesso'>, where?: string): Promise<Answer>;
  /** The event object. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at the answer field by field
  evento(nota: Pick<NotaEmitida, 'chave_acesso'>, tipo: string, sequencial?: number): Promise<any>;
};

/** The sandbox, which requires no signature. */
export function balcao(address: string, tenant = 'integracao'): Balcao {
  const api = `${address}/${tenant}/api/v1`;
  const under = `/${tenant}/api/v1`;
  const register: Balcao['register'] = (nota, evento, headers = {}, path = 'chave') =>
    request(address, `${under}/${PATHS[path](nota)}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof evento === 'string' ? evento : JSON.stringify(evento),
    });
  const read: Balcao['read'] = ({ chave_acesso }, where = '') =>
    request(address, `${under}/nfse/${chave_acesso}/eventos${where}`);
  return {
    api,
    issue: async (patch = {}, headers = {}) => {
      const answer = await request(address, `${under}/nfse/v101`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml', ...headers },
        body: exampleXml(patch),
      });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body;
    },
    nota: ({ chave_acesso }) => request(address, `${under}/nfse/${chave_acesso}`),
    register,
    registered: async (nota, evento, headers) => {
      const answer = await register(nota, evento, headers);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body;
    },
    read,
    evento: async (nota, tipo, sequencial = 1) => {
      const answer = await read(nota, `/${tipo}/${sequencial}`);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.evento;
    },
  };
}

/** Puts an event into the state that a test needs: due at a moment, or at rest. */
export async function putEvento(
  pool: Pick<Db, 'query'>,
  tenant: string,
  id: string,
  estado: EventoEstado,
  dueAt: Date | null,
): Promise<void> {
  await pool.query('update eventos set estado = $3, aberto = $4 where tenant = $1 and id = $2', [
    tenant,
    id,
    estado,
    dueAt !== null,
  ]);
  await pool.query("delete from fila where tenant = $1 and tipo = 'evento' and id = $2", [tenant, id]);
  const queued = `insert into fila (tenant, tipo, id, mes, due_at)
    select tenant, 'evento', id, mes, $3 from eventos where tenant = $1 and id = $2 and aberto`;
  await pool.query(queued, [tenant, id, dueAt]);
}

/** The worker of one municipality, run by hand: nothing happens between two runs. */
export function bancada(
  world: World,
  tenant = 'integracao',
): { readonly notas: () => Promise<void>; readonly eventos: () => Promise<void> } {
  const until = async (deliver: typeof deliverNotas): Promise<void> => {
    const municipio = (await world.store.municipios.findBySlug(tenant))!;
    while ((await deliver(world, municipio)).isFull);
  };
  return { notas: () => until(deliverNotas), eventos: () => until(deliverEventos) };
}
