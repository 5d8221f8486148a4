/**
 * Whom we ask: the contract with the national environment. Its answers are data; only a structured refusal is a
 * refusal, everything else is uncertain and is asked about. What to do about an answer is the flows' affair.
 */

export type DocumentToShare = {
  readonly chave_acesso: string;
  /** The signed NFS-e; a local authority does not look at it. */
  readonly nfse: Uint8Array | undefined;
};

/** One reason of a refusal, as the ADN words it. */
export type AdnErro = {
  readonly codigo: string;
  readonly descricao: string;
  readonly complemento?: string | undefined;
};

export type AdnAnswer =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly erros: readonly AdnErro[] }
  /** It may have arrived or not: ask before sending again. */
  | { readonly kind: 'unknown'; readonly why: string }
  /** It certainly did not arrive. */
  | { readonly kind: 'unavailable'; readonly why: string };

/** What the ADN has under a key. */
export type AdnKnowledge = 'known' | 'absent' | 'unavailable';

export type Adn = {
  /** Whether {@link share} wants the documents themselves. */
  readonly wantsDocuments: boolean;
  /** Documents accepted in one call at most. */
  readonly batchMax: number;
  /** Shares documents of one municipality; one answer for each key. Never throws for what the other side does. */
  share(tenant: string, documents: readonly DocumentToShare[]): Promise<ReadonlyMap<string, AdnAnswer>>;
  /** Asks whether notes are there already. */
  find(tenant: string, chaves: readonly string[]): Promise<ReadonlyMap<string, AdnKnowledge>>;
};
