/** The bodies of the ADN's answers, as its contract has them (`POST /adn/DFe`). */

/** A key; each number makes another one. */
export const chaveOf = (number: number): string => `3550308${String(number).padStart(43, '0')}`;

/** One document in the answer to a lot, with the codes of its refusal. */
export const entry = (chave: string | null, nsu: string | number | null, ...codes: readonly string[]) => ({
  ChaveAcesso: chave,
  NsuRecepcao: nsu,
  StatusProcessamento: 'texto livre',
  Alertas: [],
  Erros: codes.map((Codigo) => ({ Codigo, Descricao: `regra ${Codigo}` })),
});

export const HEAD = {
  TipoAmbiente: 'HOMOLOGACAO',
  VersaoAplicativo: '1',
  DataHoraProcessamento: '2026-10-05T10:15:31.12-03:00',
};

export const lote = (...entries: readonly unknown[]) => ({ Lote: entries, ...HEAD });

/** Errors of a lot or of a query as a whole. */
export const refusal = (...codes: readonly string[]) => ({
  Erros: codes.map((Codigo) => ({ Codigo, Descricao: `regra ${Codigo}` })),
  ...HEAD,
});
