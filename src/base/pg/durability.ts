/** Whether the server waits for its disk. An answered note may be lost through a write without such a wait. */
import type { Db } from './open.ts';

/** Consequence of each setting that is off, in Portuguese. */
const LOSS = {
  fsync: 'uma queda de energia ou do sistema perde notas já respondidas com 201, e pode estragar o banco inteiro',
  full_page_writes: 'uma queda de energia ou do sistema pode estragar páginas do banco',
  synchronous_commit: 'uma queda do PostgreSQL perde as notas respondidas com 201 no último instante',
} as const;

type Setting = keyof typeof LOSS;

/** Remedies by the source of a value in `pg_settings`. These sources do not concern the whole server. */
const OF_ONE: Readonly<Record<string, (name: Setting) => string>> = {
  database: (name) => `alter database … reset ${name}, e reinicie o serviço`,
  user: (name) => `alter role … reset ${name}, e reinicie o serviço`,
  'database user': (name) => `alter role … in database … reset ${name}, e reinicie o serviço`,
  'command line': (name) => `retire ${name} da linha de comando do PostgreSQL, e reinicie-o`,
  client: (name) => `retire ${name} das opções de DATABASE_URL, e reinicie o serviço`,
};

const ofServer = (name: Setting): string => `alter system set ${name} = on; select pg_reload_conf();`;

/** One sentence for each setting that is off, in Portuguese, with the remedy; empty if 201 means that a note is on the disk. */
export async function durabilityWarnings(pool: Db): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: Setting; source: string }>(
    `select name, source from pg_settings where name = any ($1) and setting = 'off' order by name`,
    [Object.keys(LOSS)],
  );
  return rows.map(({ name, source }) => {
    const mend = (OF_ONE[source] ?? ofServer)(name);
    return `o PostgreSQL está com ${name} desligado: ${LOSS[name]}. Ligue-o (${mend}).`;
  });
}
