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
