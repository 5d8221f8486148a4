/** The pieces of the floor, which `floor.ts` measures. */

/** The pieces, the payer of each, and their titles. */
export const PIECES = {
  leitura: ['emissor', 'ler o XML numa passada'],
  assinatura: ['emissor', 'conferir a assinatura (resumos e RSA)'],
  leiaute: ['emissor', 'ler o leiaute'],
  julgamento: ['emissor', 'julgar (as regras são as nossas)'],
  composicao: ['emissor', 'compor a NFS-e'],
  http: ['emissor', 'HTTP (node:http)'],
  clienteInsercao: ['emissor', 'cliente do banco, inserção'],
  rsa: ['transmissor', 'assinar a NFS-e (RSA de 2048 bits)'],
  resumos: ['transmissor', 'resumos da NFS-e'],
  envelope: ['transmissor', 'gzip sem compressão e Base64'],
  tls: ['transmissor', 'parte do lote em TLS, HTTP e JSON'],
  clienteAssentamento: ['transmissor', 'cliente do banco, assentamento'],
  insercao: ['banco', 'inserir'],
  assentamento: ['banco', 'assentar'],
} as const satisfies Readonly<Record<string, readonly ['emissor' | 'transmissor' | 'banco', string]>>;

export type Piece = keyof typeof PIECES;
/** Processor microseconds per note. */
export type Floor = Readonly<Record<Piece, number>>;

/** The floor of one window, or of one payer. */
export function floorOf(floor: Floor, where?: (typeof PIECES)[Piece][0]): number {
  const names = Object.keys(PIECES) as Piece[];
  return names
    .filter((name) => where === undefined || PIECES[name][0] === where)
    .reduce((sum, name) => sum + floor[name], 0);
}
