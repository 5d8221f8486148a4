/** The party that pays the ISSQN of a note. */
import type { Leitura } from './nota-da-nfse.ts';

/** Parties by `tpRetISSQN`. */
const DEVEDORES: Readonly<Record<string, string>> = {
  '1': 'o prestador',
  '2': 'o tomador, que o retém',
  '3': 'o intermediário, que o retém',
};

/** The party in words; undefined: no ISSQN is due by the note. */
export function describeDevedor(ler: Leitura): string | undefined {
  const isInDas = ler('DPS/infDPS/prest/regTrib/regApTribSN') === '1';
  const retencao = ler(RETENCAO) ?? '';
  if (retencao === '1' && isInDas) return 'o prestador, no DAS do Simples Nacional';
  return ler('valores/vISSQN') === undefined && !isInDas ? undefined : DEVEDORES[retencao];
}

/** The ISSQN that somebody else withholds, as a decimal text; undefined: nobody does. */
export function findIssqnRetido(ler: Leitura): string | undefined {
  return ler(RETENCAO) === '1' ? undefined : ler('valores/vISSQN');
}

const RETENCAO = 'DPS/infDPS/valores/trib/tribMun/tpRetISSQN';
