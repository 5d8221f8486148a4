/**
 * The consequences of a changed list or provider. The notes of the last days are judged again in the transaction that writes it, which is then
 * undone (D-814). A note that today's list already judges so counts for nothing.
 */
import { listasMantidas } from '../../base/book/listas.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { NotaColumn } from '../../base/book/nota-columns.ts';
import { prestadorStore } from '../../base/book/prestadores.ts';
import type { Db } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import type { RegistryWorld } from '../../base/world/municipios.ts';
import { sentAsStored } from '../../base/world/sent-documents.ts';
import { formatDecimal } from '../../fiscal/decimal.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { ownOf } from '../../fiscal/own.ts';
import type { NotaAchada } from '../notas/buscar.rows.ts';
import { nameServico } from '../notas/escolhas.ts';
import { judgeAgain } from '../notas/validate.ts';
import { cadastroStore } from './cadastros.rows.ts';
import { servicoStore } from './servicos.rows.ts';

const DAYS = 30;
/** The newest notes of these days that are judged. */
const NOTAS_MAX = 2_000;
/** Judging ends after this time: an operator waits for it, and the register is locked. */
const JUDGED_MAX_MS = 4_000;
const AT_ONCE = 16;
/** Services and codes that a sentence names. */
const NAMED_MAX = 5;

/** The outcome for one note: the codes that refuse it, or its ISSQN. */
type Outcome = { readonly codigos: readonly string[]; readonly issqn: string };

type Changed = { readonly nota: NotaAchada; readonly outcome: Outcome };

/** The change in words, and the one provider whose notes it is about; undefined: all of them. */
export type Mudado = { readonly com: string; readonly prestador?: string };

const LISTA: Mudado = { com: 'Com esta lista' };

/** Sentences on the notes that the registers of `changed`, a connection with the changed rows, would have judged otherwise. */
export async function foreseeNotas(
  world: RegistryWorld,
  municipio: Municipio,
  changed: PoolClient,
  mudado = LISTA,
): Promise<readonly string[]> {
  const { tenant } = municipio;
  const recent = { de: world.now() - DAYS * DAY_MS, prestador: mudado.prestador };
  const db = changed as unknown as Db;
  const [{ notas }, { notas: all, isWhole }] = await Promise.all([
    world.store.busca.buscar(tenant, recent, NOTAS_MAX),
    world.store.busca.contar(tenant, recent, COUNTED_MAX),
  ]);
  const mantidas = listasMantidas(db);
  const store = {
    ...world.store,
    cadastros: cadastroStore(db, mantidas),
    servicos: servicoStore(db, mantidas),
    prestadores: { ...world.store.prestadores, ...prestadorStore(db) },
  };
  const end = performance.now() + JUDGED_MAX_MS;
  const differ: Changed[] = [];
  let judged = 0;
  for (let from = 0; from < notas.length && performance.now() < end; from += AT_ONCE) {
    const some = notas.slice(from, from + AT_ONCE);
    const outcomes = await Promise.all(some.map((nota) => judgeStored(world, { store }, municipio, nota)));
    differ.push(...outcomes.flatMap((outcome, at) => (outcome === undefined ? [] : [{ nota: some[at]!, outcome }])));
    judged += some.length;
  }
  const of = { judged, all: `${isWhole ? '' : 'mais de '}${groupDigits(all)}`, isAll: judged === all };
  return describe(differ, of, mudado);
}

const COUNTED_MAX = 100_000;

/** The outcome for a stored note with the changed lists; undefined: it stays as it is. */
async function judgeStored(
  world: RegistryWorld,
  changed: Pick<RegistryWorld, 'store'>,
  municipio: Municipio,
  nota: NotaAchada,
): Promise<Outcome | undefined> {
  const body = await world.store.notas.readReceived(municipio.tenant, { id: BigInt(nota.id), mes: nota.mes });
  if (body === undefined) return undefined;
  const judge = async (by: Pick<RegistryWorld, 'store'>): Promise<Outcome> => {
    const judged = await judgeAgain(by, municipio, sentAsStored(body), +nota.data_emissao, true);
    if ('faults' in judged) return { codigos: [...new Set(judged.faults.map(({ codigo }) => codigo))], issqn: '' };
    const { vISSQN } = judged.amounts;
    return { codigos: [], issqn: vISSQN === undefined ? '' : formatDecimal(vISSQN) };
  };
  const after = await judge(changed);
  if (after.codigos.length === 0 && after.issqn === (nota.valor_issqn ?? '')) return undefined;
  const before = await judge(world);
  if (after.codigos.length === 0) return before.issqn === after.issqn ? undefined : after;
  // A code that refuses the note without the change too is no consequence of it.
  const codigos = after.codigos.filter((codigo) => !before.codigos.includes(codigo));
  return codigos.length === 0 ? undefined : { ...after, codigos };
}

type Judged = { readonly judged: number; readonly all: string; readonly isAll: boolean };

function describe(
  differ: readonly Changed[],
  { judged, all, isAll }: Judged,
  { com, prestador }: Mudado,
): readonly string[] {
  const refused = differ.filter(({ outcome }) => outcome.codigos.length > 0);
  const reckoned = differ.filter(({ outcome }) => outcome.codigos.length === 0);
  const whose = prestador === undefined ? '' : ' deste prestador';
  const which = isAll
    ? `das ${all} notas${whose} dos últimos ${DAYS} dias`
    : `das ${groupDigits(judged)} mais novas das ${all} notas${whose} dos últimos ${DAYS} dias`;
  return [
    ...(refused.length === 0
      ? []
      : [
          `${com}, ${groupDigits(refused.length)} ${which} seriam recusadas: ${countCodes(refused)}. ${nameOf(refused)}`,
        ]),
    ...(reckoned.length === 0
      ? []
      : [`${com}, ${groupDigits(reckoned.length)} ${which} teriam outro ISSQN. ${nameOf(reckoned)}`]),
  ];
}

function countCodes(refused: readonly Changed[]): string {
  const counts = new Map<string, number>();
  for (const { outcome } of refused)
    for (const codigo of outcome.codigos) counts.set(codigo, (counts.get(codigo) ?? 0) + 1);
  const first = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, NAMED_MAX);
  return first
    .map(
      ([codigo, notas]) =>
        `${[ownOf(MOTIVOS, codigo), 'em'].filter(Boolean).join(' ')} ${groupDigits(notas)} (${codigo})`,
    )
    .join(', ');
}

/** The reasons of refusals that registers cause. */
const MOTIVOS: Readonly<Record<string, string>> = {
  E0310: 'o código do serviço não estaria na lista',
  E0429: 'o ISSQN ficaria abaixo do mínimo de 2 %',
  E101: 'o prestador não estaria cadastrado',
  E102: 'o prestador não poderia emitir',
  E103: 'a inscrição municipal não seria a do cadastro',
};

/** The services and the providers of notes, in a sentence. */
function nameOf(changed: readonly Changed[]): string {
  const valuesOf = (column: NotaColumn | 'prestador_cpf_cnpj'): readonly string[] => [
    ...new Set(changed.map(({ nota }) => String(nota[column] ?? 'sem código'))),
  ];
  const servicos = valuesOf('servico');
  const more = servicos.length > NAMED_MAX ? ` e mais ${servicos.length - NAMED_MAX}` : '';
  const prestadores = valuesOf('prestador_cpf_cnpj').length;
  return `Serviços: ${servicos.slice(0, NAMED_MAX).map(nameServico).join('; ')}${more}; prestadores: ${groupDigits(prestadores)}.`;
}
