pragma solidity ^0.8.0;

import "./Token.sol";

contract Vault {
    uint256 public total;

    event Paid(address who);

    function pay() external {
        total += compute(1);
    }
}

interface IVault {
    function pay() external;
}
