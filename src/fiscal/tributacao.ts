/**
 * Meanings of the numbers of `tribISSQN`, now and before: layout 1.00 gave 2, 3 and 4 other meanings (official schemas of both,
 * TSTribISSQN). A document converted with its number unchanged means another operation.
 */
const AGORA: Readonly<Record<string, string>> = { '2': 'imunidade', '3': 'exportação', '4': 'não incidência' };
const ANTES: Readonly<Record<string, string>> = { '2': 'exportação', '3': 'não incidência', '4': 'imunidade' };

/** Both meanings of a `tribISSQN` of layout 1.00, and the current number of each; undefined if the meaning is the same. */
export function describeTribIssqn100(tribISSQN: string): string | undefined {
  const [antes, agora] = [ANTES[tribISSQN], AGORA[tribISSQN]];
  if (antes === undefined || agora === undefined) return undefined;
  return `tribISSQN ${tribISSQN} era ${antes} no leiaute 1.00, e no 1.01 é ${agora}: se a operação é de ${antes}, envie ${howToSay(antes)}; se é de ${agora}, ${howToSay(agora)}.`;
}

function howToSay(meaning: string): string {
  const [codigo] = Object.entries(AGORA).find(([, nome]) => nome === meaning)!;
  return meaning === 'imunidade' ? `${codigo} com tpImunidade` : codigo;
}
