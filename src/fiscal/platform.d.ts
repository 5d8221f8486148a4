/** Parts of the platform that have no effect and that the law uses. Anything else of Node or of a browser is unknown to its compiler. */
declare class TextDecoder {
  constructor(encoding: string, options: { readonly fatal: boolean });
  decode(octets: Uint8Array): string;
}

declare class URL {
  static canParse(text: string): boolean;
  constructor(text: string);
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly origin: string;
  readonly search: string;
  readonly hash: string;
  readonly pathname: string;
}
