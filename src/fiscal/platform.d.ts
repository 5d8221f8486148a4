/** Classes of the platform that the law uses: they have no side effects. The compiler knows nothing else of Node or a browser here. */
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
