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

type Respondido = { readonly gatilho: string; readonly resposta: string | null };

/** Where the answer is to which a move is due; `place`: of the move among those of its trail, from 0. */
export function respostaNome(pasta: string, { gatilho, resposta }: Respondido, place: number): string | undefined {
  return resposta === null ? undefined : `${pasta}/resposta-${place + 1}-${gatilho}.txt`;
}

/** What the ADN answered, a file for each move that followed from an answer. */
export function respostasOf(pasta: string, trilha: readonly Respondido[]): readonly ArquivoDoConjunto[] {
  return trilha.flatMap((passo, place) => {
    const nome = respostaNome(pasta, passo, place);
    if (nome === undefined) return [];
    return [
      { nome, conteudo: Buffer.from(passo.resposta!), oQue: `O que o ADN respondeu: daí o movimento ${place + 1}.` },
    ];
  });
}
