/** An evidence bundle consists of parts, each with files and with the commands of other programs that check them. */

export type ArquivoDoConjunto = { readonly nome: string; readonly conteudo: Buffer; readonly oQue: string };

/** `comando` runs in the folder of the bundle; `resposta`: its output when all is right. */
export type Conferencia = { readonly oQue: string; readonly comando: string; readonly resposta: string };

export type Parte = {
  readonly titulo: string;
  readonly paragrafos: readonly string[];
  readonly arquivos: readonly ArquivoDoConjunto[];
  readonly conferencias: readonly Conferencia[];
};

/** A value as a JSON file that people can read too. */
export function jsonFile(nome: string, valor: unknown, oQue: string): ArquivoDoConjunto {
  return { nome, conteudo: Buffer.from(`${JSON.stringify(valor, null, 2)}\n`), oQue };
}

type Respondido = { readonly gatilho: string };
/** Answers by the number of the move. */
export type Respostas = ReadonlyMap<number, string>;

/** The file name of the answer that caused a move; `movimento`: its number. */
export function respostaNome(pasta: string, movimento: number, { gatilho }: Respondido): string {
  return `${pasta}/resposta-${movimento}-${gatilho}.txt`;
}

/** The ADN's answers, a file for each move that followed from one. */
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
