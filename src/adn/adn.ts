/**
 * Whom we ask: the contract with the national environment. Its answers are data; only a structured refusal is a
 * refusal, everything else is uncertain and is asked about. What to do about an answer is the flows' affair.
 */

export type DocumentToShare = {
  readonly chave_acesso: string;
  /** The signed document; a local authority does not look at it. */
  readonly xml: Uint8Array | undefined;
};

/** One reason of a refusal, as the ADN words it. */
export type AdnErro = {
  readonly codigo: string;
  readonly descricao: string;
  readonly complemento?: string | undefined;
};

/** Every `why` is a short Portuguese text without personal data: it may be stored and shown to an operator. */
export type AdnAnswer =
  /** `nsu`: the reception number that the ADN gave it (`NsuRecepcao`), when the answer told it. */
  | { readonly kind: 'accepted'; readonly nsu: string | undefined }
  | { readonly kind: 'refused'; readonly erros: readonly AdnErro[] }
  /** It may have arrived or not: ask before sending again. */
  | { readonly kind: 'unknown'; readonly why: string }
  /** It certainly was not taken. */
  | { readonly kind: 'unavailable'; readonly why: string }
  /** The municipality's certificate or its permission: nothing is taken until an operator mends it. */
  | { readonly kind: 'misconfigured'; readonly why: string };

export type NotaAsked = {
  readonly chave_acesso: string;
  /** The highest reception number that was known when the note was first announced, '0' when there was none. */
  readonly nsu_antes: string;
};

/** What the ADN has under a key. */
export type AdnKnowledge =
  | { readonly kind: 'known'; readonly nsu: string | undefined; readonly xml: Uint8Array | undefined }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unavailable'; readonly why: string };

export type Adn = {
  /** Whether {@link share} wants the documents themselves. */
  readonly wantsDocuments: boolean;
  /** Documents that one claim should take. */
  readonly batchMax: number;
  /** Shares documents of one municipality; one answer for each key. Never throws for what the other side does. */
  share(tenant: string, documents: readonly DocumentToShare[]): Promise<ReadonlyMap<string, AdnAnswer>>;
  /** Asks whether notes are there already; one answer for each key. Never throws for what the other side does. */
  find(tenant: string, notas: readonly NotaAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>>;
  /** Milliseconds until it is worth trying again; 0 when it is open for business. */
  pauseMs(): number;
};
