/** What a dated list of a municipality is as a file. */
import type { Entrada } from '../store/listas.ts';
import type { Municipio } from '../store/municipios.ts';
import type { Line } from './import-csv.ts';

/** A list by its columns; those of the period are `inicio` and `fim`. */
export type ListaCsv = {
  /** As in `Serviços de sao-paulo`. */
  readonly titulo: string;
  readonly colunas: readonly string[];
  /** What a line says, without its number and its period; tells of it what is wrong. */
  readonly read: (line: Line, municipio: Municipio) => Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The columns of the key, with a space between; empty where they cannot be read. */
  readonly chave: (line: Line) => string;
  /** What an operator should look at in the lines that are not refused. */
  readonly reparos: readonly Reparo[];
};

export type Reparo = {
  readonly has: (entrada: Entrada) => boolean;
  /** A sentence about so many lines. */
  readonly diz: (quantas: string) => string;
};
