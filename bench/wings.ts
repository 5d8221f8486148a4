/**
 * The wings that a measure takes out of the service, each by functions that then do nothing. `--import` loads this file
 * into each thread of the service, and it replaces them as Node reads their files: the service has no switch for it.
 */
import { registerHooks } from 'node:module';

/** A function of a file, and the body that it has instead. */
export type Cut = { readonly file: string; readonly name: string; readonly body: string };
type Wing = {
  readonly title: string;
  readonly cuts: readonly Cut[];
  /** SQL for the database before the service starts. */
  readonly sql?: string;
};

const NOTHING = '{ return undefined as never; }';
const AT_ONCE = '{ return Promise.resolve() as never; }';
const NONE_DELIVERED = '{ return Promise.resolve({ delivered: 0, isFull: false }) as never; }';

/** Makes each table of months a single one. */
const ONE_TABLE = `
  do $$
  declare one record;
  begin
    for one in select relname as name from pg_class where relkind = 'p' and relnamespace = 'public'::regnamespace loop
      execute format('create table um_so (like %I including all)', one.name);
      execute format('drop table %I cascade', one.name);
      execute format('alter table um_so rename to %I', one.name);
    end loop;
  end $$`;

export const WINGS = {
  meses: {
    title: 'meses (uma tabela por mês)',
    cuts: [{ file: 'src/base/book/meses.ts', name: 'ensureMeses', body: AT_ONCE }],
    sql: ONE_TABLE,
  },
  mudancas: {
    title: 'mudanças, com as somas e os avisos que vêm delas',
    cuts: [{ file: 'src/base/book/mudancas-novas.ts', name: 'insertNovas', body: AT_ONCE }],
  },
  avisos: {
    title: 'webhooks e nomes para a busca',
    cuts: [
      { file: 'src/subjects/avisos/entregas.job.ts', name: 'tellAvisos', body: NONE_DELIVERED },
      { file: 'src/subjects/notas/nomes.rows.ts', name: 'learnStep', body: '{ return Promise.resolve(0) as never; }' },
    ],
  },
  auditoria: {
    title: 'corrente de auditoria',
    cuts: [
      { file: 'src/base/book/auditoria-entradas.ts', name: 'insertEntrada', body: AT_ONCE },
      { file: 'src/base/book/auditoria-tabelas.ts', name: 'folhaOf', body: `{ return { item: '', resumo: '' }; }` },
      { file: 'src/base/book/auditoria-tabelas.ts', name: 'folhaOfSaid', body: `{ return { item: '', resumo: '' }; }` },
    ],
  },
  medidas: {
    title: 'contadores e rastros',
    cuts: [
      { file: 'src/base/measures/counters.ts', name: 'count', body: NOTHING },
      { file: 'src/base/measures/counters.ts', name: 'observe', body: NOTHING },
      { file: 'src/base/measures/counters.ts', name: 'countRequest', body: NOTHING },
    ],
  },
  somas: {
    title: 'somas do mês',
    cuts: [{ file: 'src/base/book/receita-novas.ts', name: 'tellReceita', body: AT_ONCE }],
  },
} as const satisfies Readonly<Record<string, Wing>>;

export type WingName = keyof typeof WINGS;
export const WING_NAMES = Object.keys(WINGS) as readonly WingName[];

/** The variable by which a measure names the wing. */
export const WITHOUT = 'BENCH_SEM';

/** The text of a file without a function's work. Throws when the file has no such function. */
export function cutFunction(text: string, { file, name, body }: Cut): string {
  const head = new RegExp(`^(export )?(async )?function ${name}\\b`, 'm');
  if (!head.test(text)) throw new Error(`${file} has no function ${name}`);
  return text.replace(head, `$1function ${name}(..._: unknown[]) ${body}\n$2function ${name}Whole`);
}

const wing: Wing | undefined = WINGS[process.env[WITHOUT] as WingName];
if (wing !== undefined) {
  const cutsOf = Map.groupBy(wing.cuts, ({ file }) => new URL(`../${file}`, import.meta.url).href);
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      const cuts = cutsOf.get(url);
      return cuts === undefined ? loaded : { ...loaded, source: cuts.reduce(cutFunction, String(loaded.source)) };
    },
  });
}
