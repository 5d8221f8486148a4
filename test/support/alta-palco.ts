/** The stage of the high availability test: two services on a database of three members, and the faults of its primary. */
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../../src/base/pg/pg.ts';
import { type Banco, type Member, openBanco } from './alta-banco.ts';
import type { Modo, Programs } from './alta-configuracao.ts';
import { ifThere } from './process.ts';
import { openCasa, type Palco } from './quedas-processos.ts';
import { until } from './until.ts';

/** A primary without synchronous replication loses the commits of this last time before its death. */
const UNHEARD_MS = 3_000;
/** A freeze that lasts longer than the election of another leader. */
const FROZEN_MS = 40_000;

/** A kind of fault; `strike` resolves with a function that restores what does not recover by itself. */
export type Golpe = {
  /** The name in Portuguese, for the published table. */
  readonly nome: string;
  strike(): Promise<() => Promise<void>>;
};

type Alta = Omit<Palco, 'quedas'> & {
  readonly banco: Banco;
  readonly golpes: readonly Golpe[];
  readonly troca: Golpe;
};

export async function openAlta(programs: Programs, seed: number, modo: Modo, via: 'haproxy' | 'lista'): Promise<Alta> {
  const banco = await openBanco(programs, modo);
  const env = { DATABASE_URL: banco.urls[via], NFSE_DATA_DIR: path.join(banco.folder, 'nunca') };
  const casa = await openCasa(path.join(banco.folder, 'palco'), seed, env);
  const connect = (): Promise<Client> => until(() => connectionTo(banco), 'the primary takes a connection');
  return { ...casa, simulator: casa.adn.running, connect, banco, golpes: golpesOf(banco), troca: trocaOf(banco) };
}

async function connectionTo({ connection }: Banco): Promise<Client | undefined> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  return client.connect().then(
    () => client,
    () => undefined,
  );
}

const nothing = async (): Promise<void> => {};

function golpesOf(banco: Banco): readonly Golpe[] {
  const all = ({ etcd, patroni }: Member, servers: readonly number[]): readonly number[] => [
    patroni.pid!,
    etcd.pid!,
    ...servers,
  ];
  return [
    {
      nome: 'PostgreSQL do primário, kill -9',
      strike: async () => {
        const primary = await banco.untilWhole();
        signal(banco.serversOf(primary), 'SIGKILL');
        return nothing;
      },
    },
    {
      nome: `PostgreSQL do primário, kill -9, ${UNHEARD_MS / 1_000} s depois de calar às réplicas`,
      strike: async () => {
        const primary = await banco.untilWhole();
        signal(banco.sendersOf(primary), 'SIGSTOP');
        await pause(UNHEARD_MS);
        signal(banco.serversOf(primary), 'SIGKILL');
        return nothing;
      },
    },
    {
      nome: 'a máquina do primário (PostgreSQL, Patroni, etcd), kill -9',
      strike: async () => {
        const primary = await banco.untilWhole();
        signal(all(primary, banco.serversOf(primary)), 'SIGKILL');
        return async () => {
          primary.etcd = banco.startEtcd(primary);
          primary.patroni = banco.startPatroni(primary);
        };
      },
    },
    {
      nome: `a máquina do primário parada ${FROZEN_MS / 1_000} s`,
      strike: async () => {
        const primary = await banco.untilWhole();
        const pids = all(primary, banco.serversOf(primary));
        signal(pids, 'SIGSTOP');
        const thawed = pause(FROZEN_MS).finally(() => signal(pids, 'SIGCONT'));
        return () => thawed;
      },
    },
  ];
}

function trocaOf(banco: Banco): Golpe {
  return {
    nome: 'troca pedida (patronictl switchover)',
    strike: async () => {
      await banco.switchover();
      return nothing;
    },
  };
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) ifThere(() => process.kill(pid, name));
}
