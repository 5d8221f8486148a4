/** Words by which an official asks, where a page says it otherwise. The search finds a section by them as by its title. */

/** Words by the place of their section: the page, and the section in it. */
export const EVERYDAY_WORDS: Readonly<Record<string, string>> = {
  'prefeitura#entrar-e-a-senha-esquecida':
    'esqueci esqueceu perdi minha senha trocar mudar redefinir login acesso usuário novo celular aplicativo código bloqueado colega',
  'prefeitura#o-que-espera-por-mim': 'pendência pendente tarefa fila atrasado prazo responsável hoje',
  'prefeitura#deferir-ou-indeferir-um-cancelamento':
    'deferir indeferir aceitar negar recusar pedido análise fiscal cancelamento processo',
  'prefeitura#cancelar-uma-nota-de-ofício': 'cancelar anular nota ofício cancelamento bloquear',
  'prefeitura#o-mês-e-a-planilha':
    'relatório mensal mês quanto arrecadou arrecadação receita ISS total resumo estatística excel planilha baixar exportar conciliação',
  'prefeitura#trocar-o-certificado': 'trocar certificado vencido vence venceu renovar novo e-CNPJ A1 pfx p12 senha',
  'prefeitura#importar-e-corrigir-uma-lista':
    'importar corrigir lista cadastro planilha prestador serviço errada linhas recusadas desfazer',
  'prefeitura#uma-reclamação-com-o-qr-code-na-mão':
    'reclamação reclamar contribuinte balcão QR consultar conferir nota falsa verdadeira',
  'prefeitura#o-brasão-e-a-cor': 'brasão logotipo logomarca logo cor barra aparência',
  'planilhas#o-mês-para-o-sistema-tributário': 'conciliação contabilidade lançamento arrecadação',
  'planilhas#no-console': 'excel baixar exportar relatório notas planilha libreoffice',
  'operacao#cópia-de-segurança': 'backup restaurar recuperar',
  'operacao#pedir-ajuda': 'suporte socorro problema defeito diagnóstico',
  'danfse#': 'segunda via imprimir nota impressa PDF',
};
