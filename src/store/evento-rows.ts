/** An event as it is read, with what is told of its nota. */
import type { ErrosAdn } from '../fiscal/erros-adn.ts';
import { EVENTO_EM_VAO, type EventoEstado } from '../fiscal/evento.ts';
import type { NotaEstado } from '../fiscal/nota.ts';
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import { quoteWords } from './sql.ts';

export type EventoRow = {
  /** `id_evento`. */
  readonly id: string;
  /** `id` of its nota. */
  readonly nota: string;
  /** Of its nota, these two. */
  readonly chave_acesso: string;
  readonly numero_protocolo: string;
  /** Where its nota is. */
  readonly nota_estado: NotaEstado;
  /** Of its nota: when it wants attention, and who has it. */
  readonly nota_due_at: Date | null;
  readonly nota_claims: string | null;
  readonly codigo_tipo_evento: string;
  readonly numero_sequencial: number;
  /** Processed, it cancels the nota: only one such event of a nota may be under way. */
  readonly cancela: boolean;
  readonly estado: EventoEstado;
  /** Since when it is in its state. */
  readonly desde: Date;
  /** Null when nothing more happens by itself: in `erro`, when no retry is left. */
  readonly due_at: Date | null;
  /** Who has it; null when nobody does. */
  readonly claims: string | null;
  readonly tentativas: number;
  readonly reprocessamentos_count: number;
  readonly ultimo_reprocessamento_em: Date | null;
  /** Kept while it is sent in vain in between. */
  readonly aguardando_desde: Date | null;
  readonly criado_em: Date;
  /** When the authority gave its final word. */
  readonly processado_em: Date | null;
  readonly codigo_retorno: string | null;
  readonly mensagem_retorno: string | null;
  readonly erros_adn: ErrosAdn | null;
  /** CPF or CNPJ. */
  readonly autor: string;
  /** By the names of the JSON body. */
  readonly campos: Readonly<Record<string, string>>;
  /** The reception number that the ADN gave it. */
  readonly nsu_recepcao: string | null;
  /** When an operator has seen to its refusal. */
  readonly arquivado_em: Date | null;
};

/** `condition`: on the event `e`; its values begin at $2. */
export async function readEventos(
  db: Db | PoolClient,
  tenant: string,
  condition: string,
  values: readonly unknown[],
): Promise<readonly EventoRow[]> {
  const text = `select e.*, n.chave_acesso, n.numero_protocolo, n.estado as nota_estado, n.due_at as nota_due_at,
      n.claims as nota_claims
    from eventos e join notas n on n.tenant = $1 and n.id = e.nota where e.tenant = $1 and ${condition}`;
  return (await db.query<EventoRow>(text, [tenant, ...values])).rows;
}

/** The cancellation of a nota that is under way. */
export async function openCancelamento(pool: Db, tenant: string, nota: string): Promise<EventoRow | undefined> {
  return (await readEventos(pool, tenant, 'e.nota = $2 and e.cancela and e.due_at is not null', [nota]))[0];
}

/** An event of a nota that names another as its substitute, unless it surely came to nothing. */
export async function eventoThatNames(
  client: PoolClient,
  tenant: string,
  nota: string,
  substituta: string,
): Promise<EventoRow | undefined> {
  const condition = `e.nota = $2 and e.cancela and e.campos ->> 'chave_acesso_substituta' = $3
    and e.estado not in (${quoteWords(EVENTO_EM_VAO)})`;
  return (await readEventos(client, tenant, condition, [nota, substituta]))[0];
}
