/** Faults as lines of a terminal: place first, as compilers write it. */

type Shown = {
  readonly codigo: string;
  readonly xpath: string;
  readonly mensagem: string;
  readonly campo?: string;
  readonly linha?: number;
  readonly coluna?: number;
  readonly encontrado?: string;
  readonly esperado?: string;
  readonly correcao?: string;
};

export function faultLines(faults: readonly Shown[]): string {
  return faults.map(faultLine).join('\n');
}

function faultLine({ codigo, xpath, campo, mensagem, linha, coluna, encontrado, esperado, correcao }: Shown): string {
  const place = linha === undefined ? '' : `${linha}:${coluna}  `;
  const details = [
    ['em', xpath],
    ['campo', campo],
    ['encontrado', encontrado],
    ['esperado', esperado],
    ['correção', correcao === '' ? 'retire-o' : correcao],
  ].flatMap(([name, value]) => (value ? [`      ${name}: ${value}`] : []));
  return [`  ${place}${codigo}  ${mensagem}`, ...details].join('\n');
}
