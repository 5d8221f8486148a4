/** The bar of a municipality's pages: its name, its arms, and its colour, on which the text stays legible. */
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

/** Elements of the head: the arms as the icon of the page, and the style of the bar. */
export function markHead({ brasao, cor }: Marca): Html {
  const icon = brasao === undefined ? undefined : html`<link rel="icon" href="${brasao}">\n`;
  return html`${icon}${cor === undefined ? undefined : html`<style>${{ html: styleText(cor) }}</style>\n`}`;
}

/** The policy of a page, which admits that style and the arms too. */
export function admitMark(policy: string, { brasao, cor }: Partial<Marca> = {}): string {
  const shown = brasao === undefined || policy.includes('img-src') ? policy : `${policy}; img-src 'self'`;
  return cor === undefined ? shown : shown.replace('style-src ', `style-src ${digestOf(styleText(cor))} `);
}

function styleText(cor: string): string {
  return `.barra { --bar: ${cor}; --on-bar: ${chooseText(cor).cor}; }`;
}
