/** What an evidence bundle is made of: parts, each with files, and commands of other programs by which they are checked. */

export type ArquivoDoConjunto = { readonly nome: string; readonly conteudo: Buffer; readonly oQue: string };

/** `comando` is given in the folder of the bundle; `resposta`: what it prints where all is right. */
export type Conferencia = { readonly oQue: string; readonly comando: string; readonly resposta: string };

export type Parte = {
  readonly titulo: string;
  readonly paragrafos: readonly string[];
  readonly arquivos: readonly ArquivoDoConjunto[];
  readonly conferencias: readonly Conferencia[];
};

/** A value as a file that people read too. */
export function jsonFile(nome: string, valor: unknown, oQue: string): ArquivoDoConjunto {
  return { nome, conteudo: Buffer.from(`${JSON.stringify(valor, null, 2)}\n`), oQue };
}

type Respondido = { readonly gatilho: string };
/** By the number of the move. */
export type Respostas = ReadonlyMap<number, string>;

/** Where the answer is to which a move is due; `movimento`: its number. */
export function respostaNome(pasta: string, movimento: number, { gatilho }: Respondido): string {
  return `${pasta}/resposta-${movimento}-${gatilho}.txt`;
}

/** What the ADN answered, a file for each move that followed from an answer. */
export function respostasOf(
  pasta: string,
  trilha: readonly Respondido[],
  respostas: Respostas,
): readonly ArquivoDoConjunto[] {
  return trilha.flatMap((passo, place) => {
    const movimento = place + 1;
    const resposta = respostas.get(movimento);
    if (resposta === undefined) return [];
    const nome = respostaNome(pasta, movimento, passo);
    return [{ nome, conteudo: Buffer.from(resposta), oQue: `O que o ADN respondeu: daí o movimento ${movimento}.` }];
  });
}
