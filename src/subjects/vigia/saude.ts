/**
 * The state of the service: the counts of all its parts and all looks as one reading, and the problems in it with their remedies.
 * `/metrics`, `/health/detalhe` and `nfse saude` are three forms of this reading.
 */

import { CHECKS, type Check, fillLabels, type Gravidade, judge, judgedValue } from '../../base/measures/checks.ts';
import { addUp, gauges, type Snapshot, samplesIn } from '../../base/measures/counters.ts';
import type { Labels, Sample } from '../../base/measures/metrics.ts';
import { AUSENTE, absentOf, isUnseen } from '../../base/measures/presence.ts';

/** `inicio`: the start of the program, in milliseconds. `collect`: the counts of all its parts. `look`: values read on demand. */
export type SaudeSetup = {
  readonly now: () => number;
  readonly look: () => Promise<readonly Sample[]>;
  readonly versao: string;
  readonly inicio: number;
  readonly collect: () => Promise<Snapshot>;
};

export type Problema = {
  readonly nome: string;
  readonly gravidade: Gravidade;
  readonly rotulos: Labels;
  readonly o_que: string;
  readonly fazer: string;
  readonly valor: number;
  readonly limite: number;
  readonly unidade: string;
};

/** The worst value of a check. `valor` null: the value is unknown (`desconhecido`), or the check does not apply here. */
export type Verificacao = {
  readonly nome: string;
  readonly status: 'ok' | 'inaplicavel' | Gravidade;
  readonly valor: number | null;
  readonly lado: Check['lado'];
  readonly aviso: number | null;
  readonly critico: number | null;
  readonly unidade: string;
};

export type Saude = {
  readonly status: 'ok' | Gravidade;
  readonly versao: string;
  /** ISO 8601, in UTC. */
  readonly em: string;
  readonly problemas: readonly Problema[];
  readonly verificacoes: readonly Verificacao[];
};

/** Reads and judges the state on request. */
export type SaudeReader = {
  read(): Promise<Snapshot>;
  judge(): Promise<Saude>;
};

export function openSaude({ versao, inicio, now, look, collect }: SaudeSetup): SaudeReader {
  const own: readonly Sample[] = [
    { name: 'nfse_versao_info', labels: { versao }, value: 1 },
    { name: 'nfse_inicio_timestamp_seconds', labels: {}, value: inicio / 1_000 },
  ];
  const read = async (): Promise<Snapshot> => {
    const [counted, looked] = await Promise.all([collect(), look()]);
    return addUp([counted, gauges([...looked, ...own])]);
  };
  return {
    read,
    judge: async () => judgeSaude(samplesIn(await read()), versao, now()),
  };
}

/** A check counts a part of a whole from 0 to 1; the unit `%` shows hundredths. */
function inUnit({ unidade }: Check, value: number): number {
  return unidade === '%' ? Math.round(value * 100_000) / 1_000 : value;
}

function judgeSaude(samples: readonly Sample[], versao: string, now: number): Saude {
  const found = judge(samples, now);
  const problemas = found.map(({ check, gravidade, labels, valor }): Problema => {
    const { nome, oQue, fazer, unidade } = check;
    const told = { o_que: fillLabels(oQue, labels), fazer, unidade };
    const [seen, limite] = [inUnit(check, valor), inUnit(check, check[gravidade]!)];
    return { nome, gravidade, rotulos: labels, ...told, valor: seen, limite };
  });
  const unseen = CHECKS.filter((check) => isUnseen(check, samples));
  // A missing measure is reported as one problem: the look that did not happen.
  const ausentes = [...new Set(CHECKS.flatMap((check) => absentOf(check, samples) ?? []))].map((medida): Problema => {
    const told = { o_que: fillLabels(AUSENTE.oQue, { medida }), fazer: AUSENTE.fazer, unidade: '' };
    return { nome: AUSENTE.nome, gravidade: 'desconhecido', rotulos: { medida }, ...told, valor: 0, limite: 1 };
  });
  const verificacoes = CHECKS.map((check): Verificacao => {
    const values = samples
      .filter(({ name }) => name === check.medida)
      .flatMap((sample) => judgedValue(check, sample, samples, now) ?? []);
    const valor = values.length === 0 ? null : check.lado === 'acima' ? Math.max(...values) : Math.min(...values);
    const gravidade = found.find((one) => one.check === check)?.gravidade;
    const { nome, lado, aviso = null, critico = null, unidade } = check;
    const status = gravidade ?? (valor !== null ? 'ok' : unseen.includes(check) ? 'desconhecido' : 'inaplicavel');
    const told = (value: number | null) => (value === null ? null : inUnit(check, value));
    return { nome, status, valor: told(valor), lado, aviso: told(aviso), critico: told(critico), unidade };
  });
  return {
    status: [...problemas, ...ausentes][0]?.gravidade ?? 'ok',
    versao,
    em: new Date(now).toISOString(),
    problemas: [...problemas, ...ausentes],
    verificacoes,
  };
}
