/** Operations and models as every language writes them. */

export type Campo = {
  readonly nome: string;
  readonly sobre: string;
  /** `modelo`: one of the list, by its name; `livre`: whatever JSON it is. */
  readonly tipo: 'texto' | 'inteiro' | 'booleano' | 'livre' | 'modelo';
  readonly modelo?: string;
  readonly isLista: boolean;
  /** Whether it may be null, or not come at all. */
  readonly isNulo: boolean;
};
export type Modelo = { readonly nome: string; readonly sobre: string; readonly campos: readonly Campo[] };
export type Operacao = {
  readonly nome: string;
  readonly metodo: string;
  readonly caminho: string;
  /** Repeated under one key it is answered as it was. */
  readonly isRepetivel: boolean;
  /** In production for one party alone, who is known by the certificate of the connection. */
  readonly comCertificado: boolean;
  /** The header of the signature of a JSON body. */
  readonly assinatura: string | undefined;
};
