// The operator's own account: an operator may belong to no organization, whose settings would show it.
import { Page } from "../../../components/page.tsx";
import { texts } from "../../../texts.ts";
import { OwnAccount } from "../../settings/account.tsx";

export const AccountPage = () => (
  <Page title={texts.operatorPages.account} lead={texts.operatorAccount.lead}>
    <OwnAccount />
  </Page>
);
