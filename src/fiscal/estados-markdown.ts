/** `docs/estados.md`: the life of a nota as a drawing and two tables, made of the machine. */
import { type Due, NOTA_ESTADOS, NOTA_MOVES, type NotaEstado, type NotaMove, type NotaTrigger } from './nota.ts';

/** When the row of a move wants attention again, in words. */
const DUE: Readonly<Record<Due, string>> = {
  now: 'de imediato',
  lease: 'se o envio não se concluir no prazo',
  backoff: 'depois de um intervalo, cada vez maior',
  never: 'não volta',
};

/** What sets a move off, in words. */
const TRIGGERS: Readonly<Record<NotaTrigger, string>> = {
  emissao: 'a DPS foi aceita',
  anuncio: 'o envio ao ADN vai começar',
  autorizacao: 'o ADN autorizou, ou já a conhecia',
  recusa: 'o ADN recusou',
  adiamento: 'o ADN não respondeu, ou não se soube o que respondeu',
  cancelamento: 'um evento de cancelamento foi processado',
};

const ESTADOS = Object.keys(NOTA_ESTADOS) as NotaEstado[];

export function estadosMarkdown(): string {
  return `<!-- Gerado por scripts/generate.ts a partir da máquina de estados; não edite. -->

# Estados

## Nota

Quem integra vê \`nota.status\`, \`protocolo.status\` e \`chave_acesso_provisoria\`; o estado é o que o serviço guarda, e dele
saem os três. A chave de acesso não muda em nenhum deles.

\`\`\`mermaid
stateDiagram-v2
${NOTA_MOVES.map(arrow).join('\n')}
${ESTADOS.filter(isLast)
  .map((estado) => `  ${estado} --> [*]`)
  .join('\n')}
\`\`\`

${table(
  [
    'Estado',
    'Significado',
    '`nota.status`',
    '`protocolo.status`',
    '`chave_acesso_provisoria`',
    '`codigo_situacao_nfse`',
  ],
  ESTADOS.map((estado) => {
    const { significado, status, protocolo, chave_acesso_provisoria, codigo_situacao_nfse } = NOTA_ESTADOS[estado];
    const shown = [status, protocolo, chave_acesso_provisoria, codigo_situacao_nfse].map((value) =>
      code(String(value)),
    );
    return [code(estado), significado, ...shown];
  }),
)}

Repousam, até que algo de fora os mova: ${listed(ESTADOS.filter((estado) => NOTA_ESTADOS[estado].rests))}. Ocupam série
e número da DPS (E0014): ${listed(ESTADOS.filter((estado) => NOTA_ESTADOS[estado].holdsDps))}.

### Passagens

${table(
  ['De', 'Gatilho', 'Quando', 'Para', 'Volta à fila'],
  NOTA_MOVES.map(({ from, on, to, due }: NotaMove) => {
    return [from === undefined ? '' : code(from), code(on), TRIGGERS[on], code(to), DUE[due]];
  }),
)}
`;
}

function arrow({ from, on, to }: NotaMove): string {
  return `  ${from ?? '[*]'} --> ${to}: ${on}`;
}

/** Nothing leads out of it. */
function isLast(estado: NotaEstado): boolean {
  return !NOTA_MOVES.some(({ from }) => from === estado);
}

function listed(estados: readonly NotaEstado[]): string {
  return estados.map(code).join(', ');
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
