/** The mark of a municipality above its pages: name, arms, and the colour of the bar with a text that can be read on it. */
import { chooseText } from '../../fiscal/cor.ts';
import { digestOf, type Html, html } from './page-shell.ts';

export type Marca = {
  readonly nome: string;
  /** Address of the arms, from the page. */
  readonly brasao: string | undefined;
  readonly cor: string | undefined;
};

/** The arms beside the name, which says the same. */
export function markName({ nome, brasao }: Marca): Html {
  const image = brasao === undefined ? undefined : html`<img class="brasao" src="${brasao}" alt="">`;
  return html`${image}<b>${nome}</b>`;
}

/** The style of the bar; undefined: it has the common one. */
export function markStyle(marca: Marca | undefined): Html | undefined {
  return marca?.cor === undefined ? undefined : html`<style>${{ html: styleText(marca.cor) }}</style>\n`;
}

/** The policy of a page, which admits that style too. */
export function admitMark(policy: string, marca: Marca | undefined): string {
  if (marca?.cor === undefined) return policy;
  return policy.replace('style-src ', `style-src ${digestOf(styleText(marca.cor))} `);
}

function styleText(cor: string): string {
  return `.barra { --bar: ${cor}; --on-bar: ${chooseText(cor).cor}; }`;
}
