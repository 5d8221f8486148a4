/** Operations and models as every language writes them. */

export type Campo = {
  readonly nome: string;
  readonly sobre: string;
  /** `modelo`: a model of the list, by its name; `livre`: any JSON. */
  readonly tipo: 'texto' | 'inteiro' | 'booleano' | 'livre' | 'modelo';
  readonly modelo?: string;
  readonly isLista: boolean;
  /** True: the field may be null or absent. */
  readonly isNulo: boolean;
};
export type Modelo = { readonly nome: string; readonly sobre: string; readonly campos: readonly Campo[] };
export type Operacao = {
  readonly nome: string;
  readonly metodo: string;
  readonly caminho: string;
  /** True: a repetition under one key gets the first answer. */
  readonly isRepetivel: boolean;
  /** True: production gives the answer to one party alone, known by the certificate of the connection. */
  readonly comCertificado: boolean;
  /** The header of the signature of a JSON body. */
  readonly assinatura: string | undefined;
};
